import { inChunks } from '../../base/chunks.ts';
import { monotonicMs } from '../../base/globals.ts';
import type { DependentPage, Inspect } from '../../domain/backend.ts';
import { DEPENDENTS_NAMED, dependentPlace } from '../../domain/dependents.ts';
import { InvalidOptionError } from '../../domain/errors.ts';
import type {
  Page,
  PageRequest,
  ReconcileReport,
  Stats,
  TaskFacts,
  TaskFilter,
  Total,
} from '../../domain/inspection.ts';
import { LIMITS } from '../../domain/limits.ts';
import {
  type AttemptRecord,
  TASK_STATES,
  type TaskRecord,
  type TaskStanding,
  type TaskState,
} from '../../domain/task.ts';
import { causeIn, flat, text } from './decode.ts';
import {
  decodeDependents,
  decodeFacts,
  decodeRecord,
  decodeStanding,
  RECORD_FIELDS,
  STANDING_FIELDS,
} from './decode-record.ts';
import { EndWatch } from './end-watch.ts';
import { decodeQueue, decodeStats } from './queues.ts';
import { reconcile } from './reconcile.ts';
import type { Session } from './session.ts';

/** Records that one script reads at most, so that no reply grows without bound. */
const GET_STEP = 100;

/** The cause is JSON in JSON. */
type StoredAttempt = Omit<AttemptRecord, 'cause'> & { readonly cause?: string };

/** The same of what is much less. */
const STANDING_STEP = 500;

/** See `Inspect`. */
export class RedisInspect implements Inspect {
  readonly #session: Session;
  readonly #ends: EndWatch;

  constructor(session: Session) {
    this.#session = session;
    this.#ends = new EndWatch(session);
  }

  async get(ids: readonly string[]): Promise<readonly (TaskRecord | undefined)[]> {
    const records: (TaskRecord | undefined)[] = [];
    for (const step of inChunks(ids, GET_STEP)) {
      const reply = flat(await this.#session.run('get', step));
      for (let at = 0; at < reply.length; at += RECORD_FIELDS) {
        records.push(text(reply[at]) === '' ? undefined : decodeRecord(reply, at));
      }
    }
    return records;
  }

  async standing(ids: readonly string[]): Promise<readonly (TaskStanding | undefined)[]> {
    const steps = [...inChunks(ids, STANDING_STEP)].map((step) => this.#standing(step));
    return (await Promise.all(steps)).flat();
  }

  async #standing(ids: readonly string[]): Promise<readonly (TaskStanding | undefined)[]> {
    const reply = flat(await this.#session.run('standing', ids));
    return ids.map((_, at) => decodeStanding(reply, at * STANDING_FIELDS));
  }

  async attempts(id: string): Promise<readonly AttemptRecord[]> {
    const reply = flat(await this.#session.run('attempts', [id]));
    return reply.map((attempt) => {
      const { cause, ...rest } = JSON.parse(text(attempt)) as StoredAttempt;
      return { ...rest, ...causeIn(cause) };
    });
  }

  async list(filter: TaskFilter, page: PageRequest): Promise<Page<TaskRecord>> {
    const { state, queue = '', user = '', name = '' } = filter;
    const limit = Math.min(page.limit, LIMITS.pageMax);
    checkCursor(page.cursor);
    const args = [state, queue, user, name, page.cursor ?? '', limit];
    const reply = flat(await this.#session.run('list', args));
    const items: TaskRecord[] = [];
    for (let at = 1; at < reply.length; at += RECORD_FIELDS) items.push(decodeRecord(reply, at));
    const cursor = text(reply[0]);
    return cursor === '' ? { items } : { items, cursor };
  }

  async dependents(id: string, page: PageRequest): Promise<DependentPage> {
    const { cursor = '' } = page;
    if (cursor !== '' && dependentPlace(cursor) === undefined) throw strangeCursor(cursor);
    const limit = Math.min(page.limit, LIMITS.pageMax);
    return decodeDependents(text(await this.#session.run('dependents', [id, cursor, limit])));
  }

  async facts(id: string): Promise<TaskFacts | undefined> {
    const reply = flat(await this.#session.run('facts', [id, DEPENDENTS_NAMED]));
    return reply.length === 0 ? undefined : decodeFacts(reply);
  }

  async stats(): Promise<Stats> {
    const counts = zeros<TaskState>(TASK_STATES);
    const totals = zeros<Total>(TOTALS);
    for (const json of flat(await this.#session.run('queueList', ['']))) {
      const queue = decodeStats(text(json));
      for (const state of TASK_STATES) counts[state] += queue.counts[state];
      for (const total of TOTALS) totals[total] += queue.totals[total];
    }
    return { counts, totals };
  }

  async missing(): Promise<number> {
    const [, ids] = flat(await this.#session.run('arrears', []));
    return Number(ids);
  }

  async runnable(queue: string): Promise<number> {
    const [found] = flat(await this.#session.run('queueList', [queue]));
    return found === undefined ? 0 : decodeQueue(text(found)).runnable;
  }

  waitForEnd(id: string, ms: number, signal: AbortSignal): Promise<TaskStanding | undefined> {
    return this.#ends.wait(id, ms, signal);
  }

  reconcile(options: { readonly repair: boolean }): Promise<ReconcileReport> {
    return reconcile(this.#session, options.repair);
  }

  async ping(): Promise<number> {
    const start = monotonicMs();
    await this.#session.command('ping', 'PING', []);
    return monotonicMs() - start;
  }

  close(): void {
    this.#ends.close();
  }
}

/** A cursor is a place: the index, the score and the id of the last row that was looked at. */
function checkCursor(cursor: string | undefined): void {
  if (cursor === undefined) return;
  try {
    const place: unknown = JSON.parse(cursor);
    if (Array.isArray(place) && place.length === 3) {
      const [, score] = place;
      if (place.every((part) => typeof part === 'string') && Number.isFinite(Number(score))) return;
    }
  } catch {
    // Falls through to the refusal.
  }
  throw strangeCursor(cursor);
}

function strangeCursor(cursor: string): InvalidOptionError {
  return new InvalidOptionError('cursor', 'the cursor of a page of this listing', cursor);
}

const TOTALS: readonly Total[] = [
  'enqueued',
  'finished',
  'failed',
  'deadLetters',
  'canceled',
  'retried',
  'lost',
  'stolen',
];

function zeros<K extends string>(names: readonly K[]): Record<K, number> {
  return Object.fromEntries(names.map((name) => [name, 0])) as Record<K, number>;
}
