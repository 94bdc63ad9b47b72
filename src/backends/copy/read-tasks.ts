import { isRecord } from '../../base/records.ts';
import type { Cause } from '../../domain/task/cause.ts';
import type { AttemptRecord, EdgePolicies, TaskState } from '../../domain/task/task.ts';
import { firstByDigest } from '../memory/store/first-payload.ts';
import { FLAGS, STATES_BY_CODE } from '../redis/layout/codes.ts';
import { TEXT_OFFSETS, TEXT_WIDTHS, ZERO_BYTE } from '../redis/layout/packed.ts';
import { decodeFixed } from '../redis/wire/decode.ts';
import type { BlockKind, LeaseRow, RunRow, StreamRow, TaskRow } from './image.ts';
import { unpacked } from './msgpack.ts';
import { numbersIn } from './packed-bytes.ts';
import { type Fields, longNamed } from './packed-names.ts';

/** What is known of tasks beside their texts, by id. */
export interface Pieces {
  readonly payloads: ReadonlyMap<string, Buffer>;
  readonly facts: ReadonlyMap<string, Buffer>;
  readonly ends: ReadonlyMap<string, Buffer>;
  readonly results: ReadonlyMap<string, Buffer>;
  readonly errors: ReadonlyMap<string, Buffer>;
  /** The worker that has it, and its lease. */
  readonly leases: ReadonlyMap<string, readonly [worker: string, packed: Buffer]>;
  readonly attempts: ReadonlyMap<string, readonly string[]>;
  readonly blocked: ReadonlyMap<string, readonly (readonly [id: string, kind: BlockKind])[]>;
  readonly streams: ReadonlyMap<string, readonly StreamRow[]>;
  /** Of parked ones. */
  readonly parked: ReadonlyMap<string, NonNullable<TaskRow['parked']>>;
  /** What ties it to a workflow. */
  run(task: RunSource): RunRow | undefined;
}

/** Where what ties a task to a workflow is read from. */
export interface RunSource {
  readonly id: string;
  readonly user: string;
  readonly optional: Fields<'optional'>;
  readonly changing: Fields<'changing'>;
}

/** Without dependencies these say nothing. */
const NO_EDGES: EdgePolicies = {
  onFailure: 'wait',
  onCancel: 'cancel',
  onMissing: 'refuse',
  allowCrossUser: false,
};

const NONE: Facts = {
  state: 'queued',
  flags: 0,
  seq: 0,
  failures: 0,
  losses: 0,
  releases: 0,
  at: 0,
  readers: 0,
  optional: longNamed('optional', {}),
  changing: longNamed('changing', {}),
  latest: undefined,
};

interface Facts {
  readonly state: TaskState;
  readonly flags: number;
  readonly seq: number;
  readonly failures: number;
  readonly losses: number;
  readonly releases: number;
  readonly at: number;
  readonly readers: number;
  readonly optional: Fields<'optional'>;
  readonly changing: Fields<'changing'>;
  /** Its newest lease while it is neither started nor ended. */
  readonly latest: LeaseRow | undefined;
}

/** A task of its text and of what is known beside that. */
export function taskOf(id: string, source: string, pieces: Pieces): TaskRow {
  const { inline, ...fixed } = decodeFixed(source);
  const kind = source.charCodeAt(TEXT_OFFSETS.kind - 1) - ZERO_BYTE;
  const isLong = kind % (2 * FLAGS.kind.long) === FLAGS.kind.long;
  const hasFacts = kind >= FLAGS.kind.facts || isAwaited(pieces.ends.get(id));
  const facts = factsIn(hasFacts ? pieces.facts.get(id) : undefined);
  const stamp = Number.parseInt(
    source.slice(TEXT_OFFSETS.stamp - 1, TEXT_OFFSETS.stamp - 1 + TEXT_WIDTHS.stamp),
    16,
  );
  const { optional, changing, failures, losses, releases, readers, flags } = facts;
  const now = newestOf(id, facts, pieces);
  const has = (flag: number): boolean => flags % (2 * flag) >= flag;
  const policies = optional.any('policies');
  const digest = optional.text('payloadDigest');
  const cancelCause = changing.text('cancelCause');
  return {
    id,
    ...fixed,
    payload: isLong ? (pieces.payloads.get(id)?.toString() ?? '') : inline,
    order: stamp,
    place: placeOf(now.state, facts, stamp),
    ...now,
    ...(now.state === 'scheduled' ? { dueAt: facts.at } : {}),
    ...(pieces.errors.has(id) ? { error: pieces.errors.get(id)?.toString() } : {}),
    ...causeIn('cause', changing.text('endCause')),
    ...(has(FLAGS.facts.canceling) ? causeIn('cancelCause', cancelCause) : {}),
    attempts: (pieces.attempts.get(id) ?? []).map(attemptIn),
    ...{ failures, losses, releases, readers },
    dependsOn: optional.texts('waitsOn'),
    edges: Array.isArray(policies) ? edgesOf(policies) : NO_EDGES,
    blocked: pieces.blocked.get(id) ?? [],
    absent: optional.texts('assumed'),
    expiresAt: optional.number('startUntil'),
    expiresInMs: optional.number('startWithin'),
    waitUntil: optional.number('waitUntil'),
    parked: pieces.parked.get(id),
    ...(facts.at < 0 && isInLine(now.state) ? { releasedMs: -facts.at - 1 } : {}),
    isInCascade: has(FLAGS.facts.cascade),
    hasLeft: has(FLAGS.facts.left),
    ...(digest === undefined ? {} : { firstPayload: firstByDigest(digest) }),
    charged: changing.number('chargedAhead'),
    key: optional.text('keyName'),
    run: pieces.run({ id, user: fixed.user, optional, changing }),
    streams: pieces.streams.get(id) ?? [],
  };
}

/** Whether what others asked of it may stand in its facts, which its text need not tell. */
function isAwaited(ended: Buffer | undefined): boolean {
  if (ended === undefined) return false;
  return numbersIn('ending', ended).numbers.code % FLAGS.ending.bare >= FLAGS.ending.awaited;
}

/** A cause is JSON in JSON there. */
function attemptIn(text: string): AttemptRecord {
  const { cause, ...attempt }: Omit<AttemptRecord, 'cause'> & { readonly cause?: string } =
    JSON.parse(text);
  return cause === undefined ? attempt : { ...attempt, cause: JSON.parse(cause) };
}

function isInLine(state: TaskState): boolean {
  return state === 'queued' || state === 'started';
}

/** One that was put in line as it came stands there by its arrival. */
function placeOf(state: TaskState, { seq }: Facts, stamp: number): number {
  return seq > 0 ? seq : isInLine(state) ? stamp : 0;
}

function factsIn(bytes: Buffer | undefined): Facts {
  if (bytes === undefined) return NONE;
  const { numbers, rest } = numbersIn('facts', bytes);
  const { place, flags, seq, failures, losses, releases, at, readers } = numbers;
  const state: TaskState = place === 1 ? 'scheduled' : place === 2 ? 'deferred' : 'queued';
  const raw = rest.length === 0 ? {} : unpacked(rest);
  const more = longNamed('facts', raw);
  const latest = more.text('latestLease');
  const stop = latest?.indexOf('\0') ?? 0;
  return {
    ...{ state, flags, seq, failures, losses, releases, at, readers },
    optional: longNamed('optional', more.any('optional')),
    changing: longNamed('changing', more.any('changing')),
    latest:
      latest === undefined
        ? undefined
        : { token: latest.slice(0, stop), worker: latest.slice(stop + 1), leasedAt: 0, epoch: 0 },
  };
}

type Newest = Pick<TaskRow, 'state' | 'lease' | 'settledToken' | 'end' | 'result'>;

/** How it stands, by its end, its lease, or its facts. */
function newestOf(id: string, { flags, latest, state, changing }: Facts, pieces: Pieces): Newest {
  const isSettled = flags % (2 * FLAGS.facts.settled) >= FLAGS.facts.settled;
  // What was settled before its newest lease.
  const older = isSettled ? latest?.token : changing.text('settledToken');
  const ended = pieces.ends.get(id);
  if (ended !== undefined) return endIn(id, ended, older, pieces);
  const lease = pieces.leases.get(id);
  if (lease === undefined) return { state, lease: latest, settledToken: older };
  const [worker, packed] = lease;
  const { numbers, rest } = numbersIn('lease', packed);
  const token = rest.toString('utf8', rest.indexOf(0) + 1);
  const { leasedAt, ends: until, epoch } = numbers;
  return {
    state: 'started',
    settledToken: older,
    lease: { token, worker, leasedAt, until, epoch },
  };
}

function endIn(id: string, packed: Buffer, older: string | undefined, pieces: Pieces): Newest {
  const { numbers, rest } = numbersIn('ending', packed);
  const { code, at, leasedAt, stamp } = numbers;
  const first = rest.indexOf(0);
  const second = rest.indexOf(0, first + 1);
  const token = rest.toString('utf8', 0, first);
  const worker = rest.toString('utf8', first + 1, second);
  const isApart = code % (2 * FLAGS.ending.apart) >= FLAGS.ending.apart;
  const isSettled = code % (2 * FLAGS.ending.settled) >= FLAGS.ending.settled;
  const inline = second + 1 < rest.length ? rest.toString('utf8', second + 1) : undefined;
  const result = isApart ? pieces.results.get(id)?.toString() : inline;
  const state = STATES_BY_CODE.get(code % FLAGS.ending.settled) ?? 'finished';
  return {
    state,
    ...(token === '' ? {} : { lease: { token, worker, leasedAt, epoch: 0 } }),
    settledToken: isSettled ? token : older,
    end: { at, order: stamp },
    result,
  };
}

function edgesOf([
  onFailure,
  onCancel,
  onMissing,
  allowCrossUser,
]: readonly unknown[]): EdgePolicies {
  // They were checked when they were stored.
  return {
    onFailure,
    onCancel,
    onMissing,
    allowCrossUser: allowCrossUser === true,
  } as EdgePolicies;
}

function causeIn<K extends string>(name: K, json: string | undefined): Partial<Record<K, Cause>> {
  const found: Partial<Record<K, Cause>> = {};
  if (json !== undefined) found[name] = JSON.parse(json);
  return found;
}

/** A table of another kind than it should be has no fields. */
export function recordIn(value: unknown): Readonly<Record<string, unknown>> {
  return isRecord(value) && !Array.isArray(value) ? value : {};
}
