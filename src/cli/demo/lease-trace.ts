/**
 * A wrapper of the port that sees the leases in the order in which the backend gave them, and who
 * was backlogged at each. Enqueues, leases and settles pass it one at a time, so that order here
 * is order there; finish order would say nothing about turns.
 */
import type {
  Backend,
  Leased,
  LeaseReply,
  SettleReply,
  SettleRequest,
  TaskStore,
} from '../../domain/port/backend.ts';
import type { NewTask } from '../../domain/task/task.ts';
import { Deviation } from './deviation.ts';

/** Called after a lease step, for each user, with how many of its tasks are queued. */
export type OnWaiting = (user: string, count: number) => void;

/** What one user got since the trace began. */
export interface Tally {
  readonly user: string;
  weight: number;
  /** Known to be queued now. */
  queued: number;
  /** Leases. */
  turns: number;
  /** Its exact share of all leases while it was backlogged. */
  due: number;
  /** From enqueue to first lease, in ms by the backend's clock. */
  readonly waits: number[];
}

/**
 * Follows the turns of a backend as they are leased: writes a line for each, and measures how far
 * any user is from its share.
 */
export class LeaseTrace {
  readonly deviation: Deviation = new Deviation();
  readonly #write: ((line: string) => void) | undefined;
  readonly #onWaiting: OnWaiting;
  readonly #tallies: ReadonlyMap<string, Tally>;
  /** Queued later than enqueued, so counted when they are leased: delayed or with dependencies. */
  readonly #later = new Set<string>();
  /** Leases of the last reply: one that is told again is no new turn. */
  #known: ReadonlySet<string> = new Set();
  /** Sum of the weights of the backlogged users. */
  #total = 0;
  #turns = 0;
  #isRunning = false;
  /** Ends when every call so far has. */
  #last: Promise<unknown> = Promise.resolve();

  /**
   * `write` gets the lines of the trace: `{ "backlogged": { user: weight } }` whenever that
   * changes, `{ "lease": user }` for each lease.
   */
  constructor(
    weights: ReadonlyMap<string, number>,
    onWaiting: OnWaiting,
    write?: (line: string) => void,
  ) {
    this.#onWaiting = onWaiting;
    this.#write = write;
    this.#tallies = new Map(
      [...weights].map(([user, weight]) => [
        user,
        { user, weight, queued: 0, turns: 0, due: 0, waits: [] },
      ]),
    );
  }

  get tallies(): readonly Tally[] {
    return [...this.#tallies.values()];
  }

  /** Leases so far. */
  get turns(): number {
    return this.#turns;
  }

  /** From now on leases count; by user, what is there already. */
  begin(found: ReadonlyMap<string, { readonly queued: number; readonly ahead: number }>): void {
    this.#isRunning = true;
    for (const tally of this.#tallies.values()) tally.queued = found.get(tally.user)?.queued ?? 0;
    const ahead = [...found].map(([user, one]) => [user, one.ahead] as const);
    if (found.size > 0) this.#backlogChanged(new Map(ahead));
  }

  /** What happens from now on is not part of the trace. */
  stop(): void {
    this.#isRunning = false;
  }

  /** The same backend, watched. */
  watch(backend: Backend): Backend {
    const { tasks } = backend;
    const watched: TaskStore = {
      enqueue: (items, options) =>
        this.#inOrder(async () => {
          const replies = await tasks.enqueue(items, options);
          this.#enqueued(items.filter((_item, at) => replies[at]?.kind === 'created'));
          return replies;
        }),
      lease: (request) => this.#inOrder(async () => this.#leases(await tasks.lease(request))),
      settle: (request) => this.#inOrder(() => this.#settle(tasks, request)),
      extend: (request) => tasks.extend(request),
      tick: () => tasks.tick(),
      cancel: (id, reason) => tasks.cancel(id, reason),
      redrive: (id, edited, endedBy) => tasks.redrive(id, edited, endedBy),
      remove: (id, endedBy) => tasks.remove(id, endedBy),
      runNow: (id) => tasks.runNow(id),
    };
    return {
      name: backend.name,
      get capabilities() {
        return backend.capabilities;
      },
      tasks: watched,
      users: backend.users,
      queues: backend.queues,
      workers: backend.workers,
      inspect: backend.inspect,
      runs: backend.runs,
      graphs: backend.graphs,
      schedules: backend.schedules,
      xcom: backend.xcom,
      waits: backend.waits,
      streams: backend.streams,
      asks: backend.asks,
      series: backend.series,
      open: (settings) => backend.open(settings),
      close: () => backend.close(),
    };
  }

  #inOrder<T>(call: () => Promise<T>): Promise<T> {
    const result = this.#last.then(call);
    this.#last = result.catch(() => undefined);
    return result;
  }

  async #settle(tasks: TaskStore, request: SettleRequest): Promise<SettleReply> {
    const reply = await tasks.settle(request);
    if (reply.lease !== undefined) this.#leases(reply.lease);
    return reply;
  }

  #enqueued(items: readonly NewTask[]): void {
    if (!this.#isRunning) return;
    let joined = false;
    for (const { id, user, delayMs, executeAfter, dependsOn } of items) {
      if (delayMs !== undefined || executeAfter !== undefined || dependsOn.length > 0) {
        this.#later.add(id);
        continue;
      }
      const tally = this.#tallies.get(user);
      if (tally === undefined) continue;
      tally.queued++;
      if (tally.queued === 1) joined = true;
    }
    if (joined) this.#backlogChanged();
  }

  #leases(reply: LeaseReply): LeaseReply {
    if (!this.#isRunning || reply.leases.length === 0) return reply;
    const fresh = reply.leases.filter(({ id, token }) => !this.#known.has(`${token} ${id}`));
    this.#known = new Set(reply.leases.map(({ id, token }) => `${token} ${id}`));
    for (const lease of fresh) this.#leased(lease);
    for (const { user, queued } of this.#tallies.values()) this.#onWaiting(user, queued);
    return reply;
  }

  #leased(lease: Leased): void {
    const tally = this.#tallies.get(lease.user);
    if (tally === undefined) return;
    const wasLater = this.#later.delete(lease.id);
    const first = lease.attempt === 1 && lease.losses === 0 && lease.releases === 0;
    // It came back to the queue inside some step; at the latest just before this lease.
    if (wasLater || !first) {
      tally.queued++;
      if (tally.queued === 1) this.#backlogChanged();
    }
    if (first) tally.waits.push(Math.max(0, lease.leasedAt - lease.createdAt));
    this.#turn(tally);
  }

  #turn(tally: Tally): void {
    for (const other of this.#tallies.values()) {
      if (other.queued > 0) other.due += other.weight / this.#total;
    }
    tally.turns++;
    this.#turns++;
    this.deviation.leased(tally.user);
    this.#write?.(JSON.stringify({ lease: tally.user }));
    tally.queued--;
    if (tally.queued === 0) this.#backlogChanged();
  }

  #backlogChanged(ahead?: ReadonlyMap<string, number>): void {
    const backlogged = this.tallies.filter(({ queued }) => queued > 0);
    const weights = new Map(backlogged.map(({ user, weight }) => [user, weight]));
    this.#total = backlogged.reduce((sum, { weight }) => sum + weight, 0);
    this.deviation.backlogged(weights, ahead);
    this.#write?.(JSON.stringify({ backlogged: Object.fromEntries(weights) }));
  }
}
