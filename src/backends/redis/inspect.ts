import { inChunks } from '../../base/chunks.ts';
import { recordOf } from '../../base/records.ts';
import { CorruptRecordError } from '../../domain/errors/errors.ts';
import { LIMITS } from '../../domain/limits.ts';
import type { DependentPage, Inspect, Pong } from '../../domain/port/backend.ts';
import type {
  ErrorGroupFacts,
  Page,
  PageRequest,
  ReconcileReport,
  Stats,
  TaskFacts,
  TaskFilter,
  TaskPageRequest,
  Total,
} from '../../domain/port/inspection.ts';
import { DEPENDENTS_NAMED, dependentPlace } from '../../domain/task/dependents.ts';
import {
  type AttemptRecord,
  TASK_STATES,
  type TaskRecord,
  type TaskRow,
  type TaskStatus,
} from '../../domain/task/task.ts';
import type { Session } from './connection/session.ts';
import { decodeDependents, decodeFacts, decodeRecord, RECORD_FIELDS } from './decode-record.ts';
import { EndWatch } from './end-watch.ts';
import { listErrorGroups, listTasks } from './listing.ts';
import { decodeQueue, decodeStats, queueNames, queuesNamed } from './queues.ts';
import { reconcile } from './reconcile.ts';
import { causeIn, decodeStatus, type Flat, flat, STATUS_FIELDS, text } from './wire/decode.ts';
import { foreignCursor } from './wire/listing-place.ts';
import { answersFor, pageOf } from './wire/parts.ts';

/** Records per script. */
const GET_STEP = 200;

/** The cause is JSON within JSON. */
type StoredAttempt = Omit<AttemptRecord, 'cause'> & { readonly cause?: string };

/** The same for statuses, which are much smaller. */
const STATUS_STEP = 500;

/** See `Inspect`. */
export class RedisInspect implements Inspect {
  readonly waitForEnd: Inspect['waitForEnd'];
  readonly #session: Session;
  readonly #ends: EndWatch;

  constructor(session: Session) {
    this.#session = session;
    this.#ends = new EndWatch(session);
    this.waitForEnd = this.#ends.wait.bind(this.#ends);
  }

  async get(ids: readonly string[]): Promise<readonly (TaskRecord | undefined)[]> {
    const records = await answersFor(ids, GET_STEP, async (some) => {
      const reply = flat(await this.#session.run('get', ['1', LIMITS.scriptBytes, ...some]));
      return rowsOf(reply, RECORD_FIELDS, (at) => {
        return text(reply[at]) === '' ? undefined : decodeRecord(reply, at);
      });
    });
    const [only] = ids;
    if (ids.length === 1 && records[0] === undefined) await this.#refuseDamaged(only ?? '');
    return records;
  }

  owners(ids: readonly string[]): Promise<readonly (string | undefined)[]> {
    return answersFor(ids, GET_STEP, async (some) => {
      const reply = flat(await this.#session.run('get', ['', LIMITS.scriptBytes, ...some]));
      return rowsOf(reply, RECORD_FIELDS, (at) => {
        return text(reply[at]) === '' ? undefined : decodeRecord(reply, at).user;
      });
    });
  }

  /** A task whose record was set aside is reported as damaged, not as missing. */
  async #refuseDamaged(id: string): Promise<void> {
    const name = `task ${id}`;
    const found = await this.#session.command('get', 'HGET', [this.#session.keys.damaged, name]);
    if (found === null) return;
    throw new CorruptRecordError(name, text(found).split('\0', 1)[0] ?? '');
  }

  async status(ids: readonly string[]): Promise<readonly (TaskStatus | undefined)[]> {
    const steps = [...inChunks(ids, STATUS_STEP)].map((step) => this.#status(step));
    return (await Promise.all(steps)).flat();
  }

  #status(ids: readonly string[]): Promise<readonly (TaskStatus | undefined)[]> {
    return answersFor(ids, STATUS_STEP, async (some) => {
      const reply = flat(await this.#session.run('status', some));
      return rowsOf(reply, STATUS_FIELDS, (at) => decodeStatus(reply, at));
    });
  }

  async attempts(id: string): Promise<readonly AttemptRecord[]> {
    const reply = flat(await this.#session.run('attempts', [id]));
    return reply.map((attempt) => {
      const { cause, ...rest } = JSON.parse(text(attempt)) as StoredAttempt;
      return { ...rest, ...causeIn(cause) };
    });
  }

  list(filter: TaskFilter, page: TaskPageRequest): Promise<Page<TaskRow>> {
    return listTasks(this.#session, filter, page);
  }

  errorGroups(page: PageRequest): Promise<Page<ErrorGroupFacts>> {
    return listErrorGroups(this.#session, page);
  }

  async dependents(id: string, page: PageRequest): Promise<DependentPage> {
    const { cursor = '' } = page;
    if (cursor !== '' && dependentPlace(cursor) === undefined) throw foreignCursor(cursor);
    return pageOf(page, async ({ cursor: from = '', limit }) => {
      return decodeDependents(text(await this.#session.run('dependents', [id, from, limit])));
    });
  }

  async facts(id: string): Promise<TaskFacts | undefined> {
    const reply = flat(await this.#session.run('facts', [id, DEPENDENTS_NAMED]));
    return reply.length === 0 ? undefined : decodeFacts(reply);
  }

  async stats(): Promise<Stats> {
    const counts = recordOf(TASK_STATES, () => 0);
    const totals = recordOf(TOTALS, () => 0);
    const names = await queueNames(this.#session);
    for (const queue of await queuesNamed(this.#session, names, decodeStats)) {
      if (queue === undefined) continue;
      for (const state of TASK_STATES) counts[state] += queue.counts[state];
      for (const total of TOTALS) totals[total] += queue.totals[total];
    }
    return { counts, totals };
  }

  async missing(): Promise<number> {
    const [, ids] = flat(await this.#session.run('lag', []));
    return Number(ids);
  }

  async runnable(queue: string): Promise<number> {
    const [found] = await queuesNamed(this.#session, [queue], decodeQueue);
    return found?.runnable ?? 0;
  }

  async reconcile(options: { readonly repair: boolean }): Promise<ReconcileReport> {
    await this.#session.repair.settled();
    return reconcile(this.#session, options.repair);
  }

  ping(): Promise<Pong> {
    return this.#session.ping();
  }

  close(): void {
    this.#ends.close();
  }
}

/** Decodes a reply in groups of `fields` values. */
function rowsOf<T>(reply: Flat, fields: number, decode: (at: number) => T): readonly T[] {
  return Array.from({ length: reply.length / fields }, (_, row) => decode(row * fields));
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
