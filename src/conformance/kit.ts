/** One test's view of a backend: short words for what the cases do all the time. */
import { inChunks } from '../base/chunks.ts';
import type { QueuePatch, UserPatch } from '../domain/fairness/settings.ts';
import { LIMITS } from '../domain/limits.ts';
import type {
  Backend,
  CancelReply,
  Decision,
  EnqueueReply,
  Leased,
  LeaseReply,
  LeaseRequest,
  QueueInfo,
  SettleAnswer,
  Settlement,
  Stats,
  UserInfo,
  WorkerSpec,
} from '../domain/port/backend.ts';
import type { Cause } from '../domain/task/cause.ts';
import type { EdgePolicies, NewTask, TaskRecord, TaskState } from '../domain/task/task.ts';
import type { Expect, Harness } from './harness.ts';

/** Why attempts of the suite are tried again, and why they are not. */
export const RETRIED: Cause = { type: 'attempts', failure: 'error', made: 1, of: 2 };
export const FATAL: Cause = { type: 'fatal', failure: 'error' };

/** Length of the leases of the suite, in ms. */
export const LEASE_MS: number = LIMITS.leaseMs;

/** Longest step of the clock between two ticks, in ms: below what counts as an outage. */
const STEP_MS = 5_000;

/** A worker that said nothing for this long announces itself before it leases, in ms. */
const ANNOUNCE_MS = 10_000;

/** More steps than any maintenance of the suite needs: a tick that always says `more` is a fault. */
const MAX_TICKS = 20_000;

/** Edges that refuse a task that is missing or of another user. */
export const REFUSING_EDGES: EdgePolicies = {
  onFailure: 'wait',
  onCancel: 'cancel',
  onMissing: 'refuse',
  allowCrossUser: false,
};

/** What a test says of a task or a request itself; the rest is as the kit has it. */
export type TaskFields = Partial<NewTask>;
export type LeaseFields = Partial<LeaseRequest>;

/**
 * A backend on a clock that the test moves, with one word for each thing that is done all the time.
 */
export class Kit {
  readonly backend: Backend;
  readonly expect: Expect;
  readonly #harness: Harness;
  /** Worker → when it last spoke, and as what it announced itself. */
  readonly #workers = new Map<string, { readonly spec: WorkerSpec; spokeAt: number }>();
  #made = 0;
  #closed = false;

  constructor(harness: Harness, expect: Expect) {
    this.#harness = harness;
    this.backend = harness.backend;
    this.expect = expect;
  }

  now(): number {
    return this.#harness.now();
  }

  /**
   * For so long no ended task goes: a late resend of its enqueue finds it. Where only one process
   * sees the tasks none comes late, and those who wait for the end need a moment alone.
   */
  leastKeptMs(): number {
    return this.backend.capabilities.shared ? LIMITS.resendMs : LIMITS.readMs;
  }

  /** Whether the case itself has closed the backend. */
  get closed(): boolean {
    return this.#closed;
  }

  close(): Promise<void> {
    this.#closed = true;
    return this.backend.close();
  }

  /** A text that no other call of this test gives, in order of the calls. */
  fresh(prefix: string): string {
    this.#made++;
    return `${prefix}${String(this.#made).padStart(8, '0')}`;
  }

  task(fields: TaskFields = {}): NewTask {
    return {
      id: fields.id ?? this.fresh('t'),
      name: 'work',
      queue: 'default',
      user: 'ann',
      level: 3,
      cost: 1,
      payload: '{"n":1}',
      options: '{}',
      dependsOn: [],
      edges: REFUSING_EDGES,
      ...fields,
    };
  }

  /** Sends tasks as one atomic batch and answers the replies. */
  send(...tasks: readonly TaskFields[]): Promise<readonly EnqueueReply[]> {
    return this.backend.tasks.enqueue(
      tasks.map((fields) => this.task(fields)),
      { atomic: true },
    );
  }

  /** Sends one task and answers its reply. */
  async sendOne(fields: TaskFields = {}): Promise<EnqueueReply> {
    const [reply] = await this.send(fields);
    if (reply === undefined) throw new TypeError('enqueue of one task answered nothing');
    return reply;
  }

  /** Stores one task that must be new; its id. */
  async add(fields: TaskFields = {}): Promise<string> {
    const reply = await this.sendOne(fields);
    this.expect(reply).toMatchObject({ kind: 'created' });
    return reply.kind === 'created' ? reply.id : '';
  }

  /** Stores `count` tasks alike; their ids in order. Any number, in calls of a bounded size. */
  async addMany(count: number, fields: TaskFields = {}): Promise<readonly string[]> {
    const tasks = Array.from({ length: count }, () => this.task(fields));
    for (const some of inChunks(tasks, 200)) {
      const replies = await this.backend.tasks.enqueue(some, { atomic: false });
      const refused = replies.filter(({ kind }) => kind !== 'created');
      this.expect(refused).toEqual([]);
    }
    return tasks.map(({ id }) => id);
  }

  /** Announces a worker that leases under this id from now on. */
  async worker(id: string, spec: Partial<WorkerSpec> = {}): Promise<void> {
    const whole: WorkerSpec = {
      id,
      queues: ['default', 'bulk'],
      names: ['work'],
      concurrency: 100,
      host: 'test',
      ...spec,
    };
    this.#workers.set(id, { spec: whole, spokeAt: this.now() });
    await this.backend.workers.register(whole);
  }

  request(fields: LeaseFields = {}): LeaseRequest {
    return {
      requestId: this.fresh('request'),
      worker: 'w',
      limit: 1,
      leaseMs: LEASE_MS,
      queues: [{ queue: 'default', weight: 1, pass: 0 }],
      wait: false,
      ...fields,
    };
  }

  async leaseReply(fields: LeaseFields = {}): Promise<LeaseReply> {
    const request = this.request(fields);
    await this.#announce(request.worker);
    return this.backend.tasks.lease(request);
  }

  async lease(limit = 1, fields: LeaseFields = {}): Promise<readonly Leased[]> {
    return (await this.leaseReply({ limit, ...fields })).leases;
  }

  /** Leases one task that must be there. */
  async leaseOne(fields: LeaseFields = {}): Promise<Leased> {
    const [leased] = await this.lease(1, fields);
    if (leased === undefined) throw new TypeError('expected a lease, got none');
    return leased;
  }

  /** Ids of up to `limit` leases, which stay in force. */
  async leaseIds(limit = 1, fields: LeaseFields = {}): Promise<readonly string[]> {
    return (await this.lease(limit, fields)).map(({ id }) => id);
  }

  async settle(
    leased: Pick<Leased, 'id' | 'token'>,
    decision: Settlement['decision'],
  ): Promise<SettleAnswer> {
    const settlements = [{ id: leased.id, token: leased.token, decision }];
    const { answers } = await this.backend.tasks.settle({ worker: 'w', settlements });
    const [answer] = answers;
    if (answer === undefined) throw new TypeError('settle of one task answered nothing');
    return answer;
  }

  finish(leased: Pick<Leased, 'id' | 'token'>, result = 'null'): Promise<SettleAnswer> {
    return this.settle(leased, { type: 'finish', result });
  }

  /** Ends a leased task as a dead letter. */
  fail(leased: Pick<Leased, 'id' | 'token'>): Promise<SettleAnswer> {
    const error = '{"name":"Error","message":"no"}';
    return this.settle(leased, { type: 'dead-letter', cause: FATAL, error });
  }

  retry(leased: Pick<Leased, 'id' | 'token'>, delayMs: number): Promise<SettleAnswer> {
    const error = '{"name":"Error","message":"not yet"}';
    return this.settle(leased, { type: 'retry', delayMs, cause: RETRIED, error });
  }

  release(leased: Pick<Leased, 'id' | 'token'>, delayMs?: number): Promise<SettleAnswer> {
    const later = delayMs === undefined ? {} : { delayMs };
    return this.settle(leased, { type: 'release', cause: { type: 'shutdown' }, ...later });
  }

  /** Settles all of them alike, in batches. */
  async settleAll(leases: readonly Leased[], decision: Decision): Promise<void> {
    for (const part of inChunks(leases, LIMITS.settleBatch)) {
      const settlements = part.map(({ id, token }) => ({ id, token, decision }));
      const { answers } = await this.backend.tasks.settle({ worker: 'w', settlements });
      this.expect(answers.filter(({ kind }) => kind !== 'ok')).toEqual([]);
    }
  }

  /** Leases and finishes up to `turns` tasks, `batch` at a time; the leases in order. */
  async serve(
    turns: number,
    fields: LeaseFields & { readonly batch?: number } = {},
  ): Promise<readonly Leased[]> {
    const { batch = 1, ...request } = fields;
    const served: Leased[] = [];
    for (let calls = 0; served.length < turns && calls < MAX_TICKS; calls++) {
      const limit = Math.min(batch, turns - served.length);
      const reply = await this.leaseReply({ ...request, limit });
      await this.settleAll(reply.leases, { type: 'finish', result: 'null' });
      served.push(...reply.leases);
      if (reply.leases.length === 0 && !reply.more) break;
    }
    return served;
  }

  /** Leases as many as there are, up to `count`; they stay in force. */
  async leaseMany(count: number, fields: LeaseFields = {}): Promise<readonly Leased[]> {
    const all: Leased[] = [];
    for (let calls = 0; all.length < count && calls < MAX_TICKS; calls++) {
      const limit = Math.min(LIMITS.leaseBatch, count - all.length);
      const reply = await this.leaseReply({ ...fields, limit });
      all.push(...reply.leases);
      if (reply.leases.length === 0 && !reply.more) break;
    }
    return all;
  }

  /** Finishes a task of this id that is next in line. */
  async runToEnd(id: string, result = 'null'): Promise<void> {
    const leased = await this.leaseOne();
    this.expect(leased.id).toBe(id);
    this.expect(await this.finish(leased, result)).toMatchObject({ kind: 'ok' });
  }

  cancel(id: string, reason = 'asked'): Promise<CancelReply> {
    return this.backend.tasks.cancel(id, { type: 'request', reason });
  }

  async record(id: string): Promise<TaskRecord | undefined> {
    const [record] = await this.backend.inspect.get([id]);
    return record;
  }

  async state(id: string): Promise<TaskState | 'missing'> {
    return (await this.record(id))?.state ?? 'missing';
  }

  async states(ids: readonly string[]): Promise<readonly (TaskState | 'missing')[]> {
    const states: (TaskState | 'missing')[] = [];
    for (const some of inChunks(ids, 500)) {
      const records = await this.backend.inspect.get(some);
      states.push(...records.map((record) => record?.state ?? 'missing'));
    }
    return states;
  }

  setUser(user: string, patch: UserPatch, queue?: string): Promise<void> {
    return this.backend.users.set(user, patch, queue === undefined ? {} : { queue });
  }

  setQueue(patch: QueuePatch, queue = 'default'): Promise<void> {
    return this.backend.queues.set(queue, patch);
  }

  user(user: string, queue = 'default'): Promise<UserInfo | undefined> {
    return this.backend.users.get(user, queue);
  }

  queue(queue = 'default'): Promise<QueueInfo | undefined> {
    return this.backend.queues.get(queue);
  }

  stats(): Promise<Stats> {
    return this.backend.inspect.stats();
  }

  runnable(queue = 'default'): Promise<number> {
    return this.backend.inspect.runnable(queue);
  }

  /** Moves the clock without a step of the backend. */
  shift(ms: number): Promise<void> {
    return this.#harness.advance(ms);
  }

  /** Ticks until there is nothing left to do now; how many it took. */
  async rest(): Promise<number> {
    for (let ticks = 1; ticks <= MAX_TICKS; ticks++) {
      const { more } = await this.backend.tasks.tick();
      if (!more) return ticks;
    }
    throw new RangeError(`tick still says more after ${MAX_TICKS} calls`);
  }

  /** Lets time pass on a backend that is in use: no step is long enough to count as an outage. */
  async advance(ms: number): Promise<void> {
    for (let left = ms; left > 0; left -= STEP_MS) {
      await this.shift(Math.min(left, STEP_MS));
      await this.rest();
    }
  }

  /** Lets a long time pass at once, and then the pause after an outage. */
  async jump(ms: number): Promise<void> {
    await this.shift(ms);
    await this.rest();
    await this.advance(LIMITS.outagePauseMs);
  }

  async #announce(worker: string): Promise<void> {
    const known = this.#workers.get(worker);
    if (known === undefined) return this.worker(worker);
    if (this.now() - known.spokeAt >= ANNOUNCE_MS) await this.backend.workers.register(known.spec);
    known.spokeAt = this.now();
  }
}
