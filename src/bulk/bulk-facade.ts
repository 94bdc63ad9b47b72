import type { SharedBackend } from '../backends/shared-backend.ts';
import type { Clock } from '../base/time.ts';
import { listed } from '../client/facades/list-cursor.ts';
import { PAGE_KEYS, type PageOptions, pageRequest } from '../client/facades/page.ts';
import { storedReason } from '../client/facades/reason.ts';
import { type RateOptions, rateOption } from '../client/facades/settings-options.ts';
import { InvalidOptionError, TaskNotFoundError } from '../domain/errors/errors.ts';
import { checkOptions, keysOf, type OptionKeys } from '../domain/errors/options.ts';
import { checkId, checkName } from '../domain/fairness/names.ts';
import { LIMITS } from '../domain/limits.ts';
import type { CancelReply, Page } from '../domain/port/backend.ts';
import { isEnd, type NewTask, type TaskRecord } from '../domain/task/task.ts';
import { edgesOf, NO_OPTIONS } from '../enqueue/enqueue-options.ts';
import type { TaskMaker } from '../enqueue/task-maker.ts';
import { type CancelParts, cancelOne } from '../runs/calls/task-cancel.ts';
import { BULK_TASK } from '../runs/record.ts';
import { valuesOf, whereOf, whereText } from '../search/where.ts';
import {
  ACTION_STATES,
  BULK_USER,
  type BulkAction,
  type BulkError,
  type BulkSpec,
  bulkPayload,
  bulkSpecIn,
  LAST_FIELD,
  progressIn,
} from './bulk-record.ts';

/** A change of many tasks. */
export interface BulkOptions {
  /** Tasks to change, in the filter language; must not be empty. */
  readonly where: string;
  /**
   * `redrive`: puts dead letters back, for parts of runs their runs. `cancel`: cancels tasks that
   * have not ended. `remove`: removes ended tasks. `run-now`: makes delayed tasks due.
   */
  readonly action: BulkAction;
  /** Most changes per time, over all workers and restarts. Default: unlimited. */
  readonly rate?: RateOptions | undefined;
  /** Only counts what it would change. Default false. */
  readonly dryRun?: boolean | undefined;
  /** Name of the person or program that starts it; text for people. */
  readonly by?: string | undefined;
  /** Reason; text for people, and the reason of each cancel. */
  readonly reason?: string | undefined;
  /**
   * Queue whose workers run it. Default: the default queue. It takes a slot as any task does: where
   * long tasks occupy all slots, give it its own queue and worker.
   */
  readonly queue?: string | undefined;
}

const KEYS: OptionKeys<BulkOptions> = keysOf<BulkOptions>()({
  where: true,
  action: true,
  rate: true,
  dryRun: true,
  by: true,
  reason: true,
  queue: true,
});

/** Rate of changes. */
export interface BulkRate {
  /** Number of changes … */
  readonly limit: number;
  /** … in this time, in ms. */
  readonly per: number;
  /** Number of changes at once after a pause. */
  readonly burst: number;
}

/** A change of many tasks, and its progress. Moments are ms since the epoch on the backend's clock. */
export interface BulkInfo {
  /** Id of its task. */
  readonly id: string;
  /** Action on each task. */
  readonly action: BulkAction;
  /** Tasks to change, in the filter language. */
  readonly where: string;
  /** Rate of changes; absent: unlimited. */
  readonly rate?: BulkRate;
  /** It only counts. */
  readonly dryRun: boolean;
  /** `queued`: no worker has started it. */
  readonly state: 'queued' | 'running' | 'finished' | 'canceled' | 'failed';
  /** Queue whose workers run it. */
  readonly queue: string;
  /** Moment of its start: later tasks and changes are not touched. */
  readonly createdAt: number;
  /** Moment when a worker first ran it. */
  readonly startedAt?: number;
  /** End states: moment of the end. */
  readonly endedAt?: number;
  /** Name of the person or program that started it. */
  readonly by?: string;
  /** Reason. */
  readonly reason?: string;
  /** Number of tasks found so far, runs counted in place of their parts; absent before it runs. */
  readonly matched?: number;
  /** Number of tasks that were changed. */
  readonly done: number;
  /** Number of tasks that were gone, in use, or in another state at their turn. */
  readonly skipped: number;
  /** Number of failed changes. */
  readonly failed: number;
  /** The first ten errors. */
  readonly errors: readonly BulkError[];
}

interface BulkParts extends CancelParts {
  readonly connection: SharedBackend;
  readonly clock: Clock;
  readonly maker: TaskMaker;
  readonly newId: () => string;
  /** Stores its task. */
  readonly send: (task: NewTask) => Promise<unknown>;
}

/** Address of the index of bulk actions, the newest first. */
const INDEX = { user: BULK_USER, namespace: 'bulk' };

/** Digits of a moment in an index, in base 36. */
const STAMP_DIGITS = 9;

/** An entry of the index without a task is removed after this time, in ms. */
const FORGOTTEN_MS = 60_000;

/** `loom.bulk`: changes of many tasks, carried out by workers. */
export class Bulk {
  readonly #parts: BulkParts;

  /** @internal */
  constructor(parts: BulkParts) {
    this.#parts = parts;
  }

  /**
   * Starts a change of many tasks. Workers of its queue run it in steps, in the turns of an internal user; it survives
   * the death of any worker, and changes no task twice. Tasks that match later are not touched.
   *
   * @throws {@link InvalidOptionError} for a filter that is empty, invalid, or matches no task in a state that
   * the action applies to; {@link QueueFullError}.
   */
  async start(options: BulkOptions): Promise<BulkInfo> {
    checkOptions('bulk.start', options, KEYS);
    const spec = specOf(options);
    const { codec, maker, newId, clock, connection, send } = this.#parts;
    const queue =
      options.queue === undefined ? maker.base.queue : checkName('queue', options.queue);
    const id = newId();
    const backend = await connection.open();
    const key = `${stampOf(clock.now())}.${id}`;
    const place = { ...INDEX, key };
    // Stored before the task, so that a stored task is listed.
    await backend.xcom.write([{ type: 'push', place, text: 'null', ttlMs: LIMITS.delayMaxMs }]);
    await send({
      ...{ id, name: BULK_TASK, queue, user: BULK_USER, level: 3, cost: 1 },
      payload: bulkPayload(codec, spec),
      options: NO_OPTIONS,
      dependsOn: [],
      edges: edgesOf({}),
    });
    const info = await this.get(id);
    if (info === undefined) throw new TaskNotFoundError(id);
    return info;
  }

  /** One bulk action; `undefined` if it is not stored: it is kept as other tasks are. */
  async get(id: string): Promise<BulkInfo | undefined> {
    const { inspect } = await this.#parts.connection.open();
    const [record] = await inspect.get([checkId('id', id)]);
    return record?.name === BULK_TASK ? this.#info(record) : undefined;
  }

  /** One page, the newest first. A page may have fewer rows than requested and still be followed by another. */
  async list(options: PageOptions = {}): Promise<Page<BulkInfo>> {
    checkOptions('bulk.list', options, PAGE_KEYS);
    const { clock, connection } = this.#parts;
    const { inspect, xcom } = await connection.open();
    return listed({ list: 'bulk.list' }, pageRequest(options), async (request) => {
      const { items: facts, ...rest } = await xcom.list(INDEX, request);
      const records = await inspect.get(facts.map(({ key }) => key.slice(STAMP_DIGITS + 1)));
      const gone = facts.filter(
        ({ pushedAt }, at) => records[at] === undefined && pushedAt < clock.now() - FORGOTTEN_MS,
      );
      if (gone.length > 0) {
        await xcom.write(gone.map(({ key }) => ({ type: 'delete', place: { ...INDEX, key } })));
      }
      const stored = records.filter((record) => record !== undefined);
      const items = await Promise.all(stored.map((record) => this.#info(record)));
      return { ...rest, items };
    });
  }

  /** Cancels one; its changes stay. Answers as `loom.tasks.cancel` does; `reason` is stored with it. */
  async cancel(
    id: string,
    options: { readonly reason?: string | undefined } = {},
  ): Promise<CancelReply> {
    checkOptions('bulk.cancel', options, CANCEL_KEYS);
    const { reason } = options;
    const said = reason === undefined ? {} : { reason: storedReason(reason) };
    const { inspect } = await this.#parts.connection.open();
    const [record] = await inspect.get([checkId('id', id)]);
    if (record?.name !== BULK_TASK) return { kind: 'not-found' };
    return cancelOne(this.#parts, id, { type: 'request', ...said });
  }

  async #info(record: TaskRecord): Promise<BulkInfo> {
    const { codec, connection } = this.#parts;
    const { runs } = await connection.open();
    const { id, state, queue, createdAt, endedAt } = record;
    const [fields, last] = await Promise.all([runs.load(id), runs.readChannel(id, [LAST_FIELD])]);
    const progress = progressIn({ ...fields, ...last });
    const { action, where, rate, dryRun = false, by, reason } = bulkSpecIn(codec, record.payload);
    const { startedAt, matched, done = 0, skipped = 0, failed = 0, errors = [] } = progress ?? {};
    const isBegun = state === 'started' || startedAt !== undefined;
    return {
      ...{ id, action, where, dryRun, queue, createdAt },
      state: isEnd(state) ? state : isBegun ? 'running' : 'queued',
      ...(rate === undefined
        ? {}
        : { rate: { limit: rate.limit, per: rate.perMs, burst: rate.burst } }),
      ...(startedAt === undefined ? {} : { startedAt }),
      ...(endedAt === undefined ? {} : { endedAt }),
      ...(by === undefined ? {} : { by }),
      ...(reason === undefined ? {} : { reason }),
      ...(matched === undefined ? {} : { matched }),
      ...{ done, skipped, failed, errors },
    };
  }
}

const CANCEL_KEYS: OptionKeys<{ reason: unknown }> = keysOf<{ reason: unknown }>()({
  reason: true,
});

function specOf({ where: text, action, rate, dryRun, by, reason }: BulkOptions): BulkSpec {
  if (typeof action !== 'string' || !Object.hasOwn(ACTION_STATES, action)) {
    const known = Object.keys(ACTION_STATES).join(', ');
    throw new InvalidOptionError('action', `one of ${known}`, action);
  }
  const where = whereOf(text);
  if (where.length === 0) {
    throw new InvalidOptionError('where', 'a filter that is not empty, such as state:failed', text);
  }
  const states = ACTION_STATES[action];
  const said = valuesOf(where, 'state');
  if (said !== undefined && !states.some((state) => said.includes(state))) {
    const expected = `tasks in a state that ${action} applies to: ${states.join(', ')}`;
    throw new InvalidOptionError('where', expected, text);
  }
  if (dryRun !== undefined && typeof dryRun !== 'boolean') {
    throw new InvalidOptionError('dryRun', 'true or false', dryRun);
  }
  return {
    action,
    where: whereText(where),
    ...(rate === undefined ? {} : { rate: rateOption('rate', rate) }),
    ...(dryRun === true ? { dryRun } : {}),
    ...(by === undefined ? {} : { by: storedReason(by, 'by') }),
    ...(reason === undefined ? {} : { reason: storedReason(reason) }),
  };
}

/** Later moments sort first. */
function stampOf(now: number): string {
  return (36 ** STAMP_DIGITS - 1 - now).toString(36).padStart(STAMP_DIGITS, '0');
}
