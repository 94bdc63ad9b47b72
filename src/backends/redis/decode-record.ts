import type { DependentPage } from '../../domain/port/backend.ts';
import type { TaskFacts } from '../../domain/port/inspection.ts';
import type { TaskRecord, TaskRow } from '../../domain/task/task.ts';
import type { WaitTarget } from '../../domain/task/wait.ts';
import { decodeQueue } from './queues.ts';
import { decodeUser } from './users.ts';
import { readAskSpec, readEventPair } from './wire/ask.ts';
import { causeIn, decodeFixed, type Flat, text } from './wire/decode.ts';
import { decodeWorkers } from './workers.ts';

/** Values of a record in a reply; see lua/lib/records/record.lua. */
export const RECORD_FIELDS = 5;

/** Mutable facts of a task in a reply. */
interface Mutable
  extends Omit<
    TaskRecord,
    'name' | 'queue' | 'user' | 'level' | 'cost' | 'payload' | 'options' | 'createdAt' | 'cause'
  > {
  readonly dependsOn: readonly string[];
  readonly blockedBy: readonly string[];
  /** JSON within JSON. */
  readonly cause?: string;
}

/** A whole record; it takes two values of a reply. */
export function decodeRecord(reply: Flat, at: number): TaskRecord {
  return { ...decodeRow(reply, at), payload: text(reply[at + 1]) };
}

/** A record for listings: with `values` its payload too. */
export function decodeRow(reply: Flat, at: number, values = false): TaskRow {
  const { inline: _cut, ...fixed } = decodeFixed(text(reply[at]));
  const {
    dependsOn = [],
    blockedBy = [],
    cause,
    ...rest
  } = JSON.parse(text(reply[at + 4])) as Mutable;
  const result = reply[at + 2];
  const error = reply[at + 3];
  return {
    ...fixed,
    ...(values ? { payload: text(reply[at + 1]) } : {}),
    ...rest,
    dependsOn,
    blockedBy,
    ...causeIn(cause),
    ...(typeof result === 'string' ? { result } : {}),
    ...(typeof error === 'string' ? { error } : {}),
  };
}

interface RawFacts extends Omit<TaskFacts, 'record' | 'liveWorkers' | 'shares' | 'wait'> {
  readonly wait?: {
    readonly for:
      | Exclude<WaitTarget, { kind: 'ask' }>
      | { readonly kind: 'ask'; readonly ask?: string };
    readonly since: number;
    readonly wakeAt?: number;
  };
  readonly shares: {
    readonly waited: readonly (string | number)[];
    readonly weights: readonly number[];
  };
}

/** A script's JSON has an empty object for an empty list. */
export function decodeDependents(json: string): DependentPage {
  const page = JSON.parse(json) as DependentPage;
  return { ...page, items: Array.isArray(page.items) ? page.items : [] };
}

function dependentsOf(dependents: DependentPage | undefined): Pick<TaskFacts, 'dependents'> {
  if (dependents === undefined || dependents.count === 0) return {};
  return { dependents: decodeDependents(JSON.stringify(dependents)) };
}

/** A question without its text is omitted. */
function waitOf(wait: RawFacts['wait']): Pick<TaskFacts, 'wait'> {
  if (wait === undefined) return {};
  const { for: awaited, ...until } = wait;
  if (awaited.kind === 'event') {
    const { kind, name } = awaited;
    return { wait: { for: { kind, ...readEventPair(name) }, ...until } };
  }
  if (awaited.kind !== 'ask') return { wait: { for: awaited, ...until } };
  if (awaited.ask === undefined) return {};
  return { wait: { for: { kind: 'ask', ask: readAskSpec(awaited.ask) }, ...until } };
}

/** Facts that explain a task: JSON, the record, and the live workers after it. */
export function decodeFacts(reply: Flat): TaskFacts {
  const raw = JSON.parse(text(reply[0])) as RawFacts;
  const { shares, dependents, wait, ...rest } = raw;
  return {
    ...rest,
    ...waitOf(wait),
    record: decodeRecord(reply, 1),
    blockedBy: raw.blockedBy ?? [],
    ...dependentsOf(dependents),
    user: raw.user === undefined ? undefined : decodeUser(JSON.stringify(raw.user)),
    queue: raw.queue === undefined ? undefined : decodeQueue(JSON.stringify(raw.queue)),
    shares: {
      waited: shares.waited.map(Number),
      weights: shares.weights,
    },
    liveWorkers: decodeWorkers(reply.slice(1 + RECORD_FIELDS)),
  };
}
