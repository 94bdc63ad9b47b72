import type { Attempt } from '../attempt/attempt.ts';
import { atRoot } from '../base/async-scope.ts';
import { Condition } from '../base/condition.ts';
import type { Core } from '../core/core.ts';
import { ClosedError, isOwn, TaskCanceledError } from '../domain/errors/errors.ts';
import type { Leased, LeaseRef, SettleAnswer, WorkerSpec } from '../domain/port/backend.ts';
import type { Cause } from '../domain/task/cause.ts';
import { PlanBook } from '../enqueue/attempt-plan.ts';
import { randomName } from '../enqueue/ids.ts';
import { Emitter, type Unsubscribe } from '../events/emitter.ts';
import { WORKER_EVENTS, type WorkerEvents } from '../events/worker-events.ts';
import { Scheduler } from '../schedules/scheduler.ts';
import { Doorbell } from './doorbell.ts';
import { Exchange, type HeldSettlement } from './exchange.ts';
import { LeaseKeeper } from './lease-keeper.ts';
import { Pulse } from './pulse.ts';
import { QueueStride } from './queue-stride.ts';
import { factsOf, leaveBehind, startOf, tellBlocked, tellFailed, tellSettled } from './report.ts';
import { emptySlots, type StopReport, sayGoodbye } from './shutdown.ts';
import { Slots } from './slots.ts';
import { Ticker } from './ticker.ts';
import {
  graceOf,
  type StopOptions,
  specOf,
  type WorkerOptions,
  type WorkerPlan,
  workerPlan,
} from './worker-options.ts';

/** What a worker is made with. */
interface WorkerParts {
  readonly core: Core;
  /** Called once the worker has ended, for whatever reason. */
  readonly onEnd: (worker: Worker) => void;
}

type WorkerState = 'new' | 'running' | 'stopping' | 'stopped';

/**
 * Leases tasks in fair order and runs their handlers. Made by `Fairloom.worker`; does nothing
 * until it is started. What it hears of an outage is an event; it goes on by itself.
 */
export class Worker {
  /** Unique among live workers; names it in listings and attempts. */
  readonly id: string;
  readonly #core: Core;
  readonly #onEnd: (worker: Worker) => void;
  readonly #plan: WorkerPlan;
  readonly #spec: WorkerSpec;
  readonly #events: Emitter<WorkerEvents>;
  readonly #stride: QueueStride;
  readonly #slots: Slots;
  readonly #exchange: Exchange;
  readonly #doorbell: Doorbell;
  readonly #keeper: LeaseKeeper;
  readonly #ticker: Ticker;
  readonly #pulse: Pulse;
  /** Absent: schedules are others' work. */
  readonly #scheduler: Scheduler | undefined;
  /** Aborts when everything is given up. */
  readonly #over = new AbortController();
  /** Aborts when a stop shall wait no longer. */
  readonly #hurry = new AbortController();
  readonly #changed = new Condition();
  readonly #nonce = randomName();
  #requests = 0;
  #isPaused = false;
  #state: WorkerState = 'new';
  /** The backend has taken it in at least once. */
  #registered = false;
  #starting: Promise<void> | undefined;
  #stopping: Promise<StopReport> | undefined;
  /** Why it ended by itself. */
  #endedBy: unknown;
  /** Calls that failed since the last answer; only the first is logged. */
  #failures = 0;

  /** @internal */
  constructor({ core, onEnd }: WorkerParts, options: WorkerOptions) {
    this.#core = core;
    this.#onEnd = onEnd;
    this.#plan = workerPlan(options, () => `w${process.pid}-${this.#nonce}`);
    this.id = this.#plan.id;
    this.#events = new Emitter(core.log, WORKER_EVENTS);
    this.#stride = new QueueStride(this.#plan.queues);
    const known = { names: core.handlers.names(), pipelines: core.registry.pipelines() };
    this.#spec = specOf(this.#plan, this.#stride.queues, known);
    const { concurrency, decider } = this.#plan;
    const { clock, random, connection } = core;
    const { backend } = connection;
    const worker = this.id;
    const failed = (operation: string, error: unknown): boolean => this.#failed(operation, error);
    const answered = (): void => this.#answered();
    const lastAnswerAt = (): number => this.#exchange.lastAnswerAt;
    this.#slots = new Slots({
      ...core,
      backend,
      concurrency,
      plans: new PlanBook(core.defaults, decider),
      host: {
        settle: (ref, decision, attempt) => this.#settle(ref, decision, attempt),
        started: (attempt) => this.#started(attempt),
        freed: () => this.#freed(),
        misbehaved: (operation, error) => this.#report(operation, error),
      },
    });
    const common = { backend, clock, random, worker };
    const { signal } = this.#over;
    this.#exchange = new Exchange({ ...common, signal, host: this.#exchanger() });
    const ring = (): void => this.#exchange.hunger();
    const handed = (lease: Leased): void => this.#exchange.handed(lease);
    const unknown = (): void => this.#exchange.forget();
    this.#doorbell = new Doorbell({ ...common, ring, handed, failed, unknown });
    this.#keeper = new LeaseKeeper({ ...common, host: this.#keeperHost() });
    const isBusy = (): boolean => this.#slots.used > 0;
    const schedulesDue = (): void => this.#scheduler?.wake();
    this.#ticker = new Ticker({ ...common, isBusy, lastAnswerAt, answered, failed, schedulesDue });
    if (this.#plan.scheduler) {
      this.#scheduler = new Scheduler({
        ...{ ...common, owner: worker, answered, failed },
        events: this.#events,
        canceled: (ids, cause) => ids.map((id) => this.noticeCancel(id, cause)),
      });
    }
    this.#pulse = new Pulse({
      clock,
      lastAnswerAt,
      blocked: (ms) =>
        tellBlocked(core.log, this.#events, { ms, taskIds: this.#slots.runningIds() }),
      unhealthy: (silentMs) => this.#events.emit('worker.unhealthy', { silentMs }),
      healthy: (silentMs) => this.#events.emit('worker.healthy', { silentMs }),
    });
  }

  /** Its slots: how many tasks it runs at once. */
  get concurrency(): number {
    return this.#plan.concurrency;
  }

  /** Tasks that it runs now. */
  get running(): number {
    return this.#slots.used;
  }

  /** @internal Leases that are not settled: a handler that outlives its lease is none. */
  get leased(): number {
    return this.#slots.held().length;
  }

  /** False while it cannot reach the backend, and once it has stopped. */
  get isHealthy(): boolean {
    return this.#state === 'running' && this.#pulse.isHealthy;
  }

  /** Listens to one kind of event; the answer ends that. A listener that throws is logged. */
  on<Name extends keyof WorkerEvents>(
    name: Name,
    listener: (event: WorkerEvents[Name]) => void,
  ): Unsubscribe {
    return this.#events.on(name, listener);
  }

  /**
   * Begins to lease. Fulfilled once the backend knows the worker; while that cannot be reached it
   * waits. Safe to call twice.
   *
   * @throws {@link InvalidOptionError}, {@link BackendUnsupportedError} when the backend refuses
   * it; {@link ClosedError} when it was stopped before.
   */
  start(): Promise<void> {
    this.#starting ??= atRoot(() => this.#start());
    return this.#starting;
  }

  /**
   * Leases nothing more, lets running handlers end within the grace, aborts the others, gives back
   * what did not finish, and writes what did. Always settles. A second call with less grace
   * shortens the first.
   */
  stop(options: StopOptions = {}): Promise<StopReport> {
    const graceMs = graceOf(options) ?? this.#plan.graceMs;
    if (graceMs === 0) atRoot(() => this.#hurry.abort());
    this.#stopping ??= atRoot(() => this.#stop(graceMs));
    return this.#stopping;
  }

  /** Leases nothing more until `resume`; what runs goes on, and its leases are kept. */
  pause(): void {
    this.#isPaused = true;
  }

  /** Leases again after {@link Worker.pause}. */
  resume(): void {
    this.#isPaused = false;
    if (this.#state === 'running') atRoot(() => this.#exchange.hunger());
  }

  /** Fulfilled when nothing runs and nothing is left to lease now. For tests and drains. */
  whenIdle(): Promise<boolean> {
    const isIdle = (): boolean =>
      this.#state !== 'running' || (this.#slots.used === 0 && this.#exchange.isQuiet);
    return this.#changed.until(isIdle, this.#over.signal);
  }

  /** A cancel that this process asked for itself: the handler need not wait for a heartbeat. */
  noticeCancel(taskId: string, cause: Cause): void {
    atRoot(() => {
      for (const attempt of this.#slots.held()) {
        if (attempt.taskId === taskId) this.#slots.cancel(attempt, cause);
      }
      this.#slots.leaveParked(taskId, new TaskCanceledError(taskId, cause));
    });
  }

  /** Gives everything up at once: results of running handlers are dropped, leases lapse. */
  abandon(): void {
    atRoot(() => this.#end(this.#slots.runningIds()));
  }

  async #start(): Promise<void> {
    if (this.#state !== 'new') throw new ClosedError('the worker');
    this.#state = 'running';
    this.#core.keepAlive.hold();
    this.#pulse.start();
    this.#exchange.hunger();
    await this.#changed.until(() => this.#registered, this.#over.signal);
    if (this.#endedBy !== undefined) throw this.#endedBy;
    if (this.#registered) this.#events.emit('worker.started', { worker: this.id });
    this.#scheduler?.start();
  }

  async #stop(graceMs: number): Promise<StopReport> {
    if (this.#state !== 'running') {
      if (this.#state === 'new') this.#end([]);
      return NOTHING_UNFINISHED;
    }
    this.#state = 'stopping';
    this.#doorbell.close();
    this.#scheduler?.stop();
    const unfinished = await emptySlots({
      slots: this.#slots,
      exchange: this.#exchange,
      changed: this.#changed,
      clock: this.#core.clock,
      graceMs,
      hurry: this.#hurry.signal,
      over: this.#over.signal,
      wasRegistered: this.#registered,
    });
    if (!this.#over.signal.aborted && this.#registered) {
      const { workers } = this.#core.connection.backend;
      const calls = [workers.unregister(this.id), this.#scheduler?.leave()];
      await sayGoodbye(this.#core.clock, calls, this.#over.signal);
    }
    this.#end(unfinished);
    return { unfinished };
  }

  /** Everything stops here, once. */
  #end(unfinished: readonly string[]): void {
    if (this.#state === 'stopped') return;
    if (this.#state !== 'new') this.#core.keepAlive.letGo();
    this.#state = 'stopped';
    this.#over.abort();
    this.#doorbell.close();
    this.#keeper.stop();
    this.#ticker.stop();
    this.#scheduler?.stop();
    this.#pulse.stop();
    this.#slots.abandon();
    this.#events.emit('worker.stopped', { worker: this.id, unfinished });
    this.#onEnd(this);
  }

  #exchanger(): ConstructorParameters<typeof Exchange>[0]['host'] {
    return {
      freeSlots: () => (this.#state === 'running' && !this.#isPaused ? this.#slots.free : 0),
      leaseRequest: (limit) => ({
        requestId: `${this.#nonce}${(this.#requests++).toString(36).padStart(6, '0')}`,
        worker: this.id,
        limit,
        leaseMs: this.#plan.leaseMs,
        queues: this.#stride.shares(),
        wait: 'hand',
      }),
      register: () => this.#register(),
      settled: (settlement, answer) => this.#settled(settlement, answer),
      take: (leases) => this.#take(leases),
      takeHanded: (lease) => this.#takeHanded(lease),
      holds: (ref) => this.#slots.holds(ref),
      startTaken: () => {
        this.#failures = 0;
        this.#slots.startTaken();
        this.#changed.check();
      },
      rested: () => this.#changed.check(),
      idle: (waitMs) => this.#doorbell.open(waitMs),
      failed: (operation, error) => this.#failed(operation, error),
      recovered: () => this.#keeper.extendNow(),
      schedulesDue: () => this.#scheduler?.wake(),
    };
  }

  #take(leases: readonly Leased[]): void {
    this.#stride.served(leases);
    for (const lease of leases) this.#slots.take(lease);
    this.#keeper.wake(leases);
  }

  /** The word that it was taken is on its way before its handler can hold up this process. */
  #takeHanded(lease: Leased): void {
    const late = (): void => this.#keeper.extendNow();
    const { workers } = this.#core.connection.backend;
    workers.confirm(this.id, lease).then((isHeld) => isHeld || late(), late);
    this.#take([lease]);
  }

  #keeperHost(): ConstructorParameters<typeof LeaseKeeper>[0]['host'] {
    return {
      held: () => this.#slots.held(),
      canceling: (attempt) => this.#slots.cancel(attempt, { type: 'request' }),
      lost: (attempt) => this.#lost(attempt),
      unknown: (refs) => this.#releaseUnknown(refs),
      answered: () => this.#answered(),
      schedulesDue: () => this.#scheduler?.wake(),
      failed: (operation, error) => this.#failed(operation, error),
      leaseMark: () => this.#exchange.leasesBegun + (this.#exchange.isLeasing ? -1 : 0),
      leasedSince: (mark) => this.#exchange.leasesBegun !== mark,
    };
  }

  async #register(): Promise<void> {
    const backend = await this.#core.connection.ready();
    // Once known it only goes on, so that what it has done still counts.
    await backend.workers.register(this.#spec, this.#registered ? {} : { starts: true });
    this.#registered = true;
    this.#changed.check();
  }

  #settle({ id, token }: LeaseRef, decision: HeldSettlement['decision'], attempt?: Attempt): void {
    this.#exchange.settle({ id, token, decision, attempt });
  }

  #started(attempt: Attempt): void {
    this.#ticker.wake();
    if (!this.#events.has('task.started')) return;
    this.#events.emit('task.started', startOf(attempt));
  }

  #freed(): void {
    this.#exchange.poke();
    this.#changed.check();
  }

  #settled({ attempt, decision }: HeldSettlement, answer: SettleAnswer): void {
    if (attempt === undefined || !this.#slots.forget(attempt)) return;
    leaveBehind(this.#slots, attempt.taskId, answer);
    const told = { failures: this.#core, events: this.#events };
    if (answer.kind === 'ok') tellSettled(told, attempt, decision, answer);
    else this.#events.emit('lease.lost', factsOf(attempt));
  }

  #lost(attempt: Attempt): void {
    // Its settlement is under way: the answer to that says what became of it.
    if (!attempt.isHeld || attempt.isDecided) return;
    this.#slots.lose(attempt);
    this.#events.emit('lease.lost', factsOf(attempt));
  }

  #releaseUnknown(refs: readonly LeaseRef[]): void {
    for (const ref of refs) {
      if (this.#slots.holds(ref)) continue;
      this.#settle(ref, { type: 'release', cause: { type: 'given-up' } });
    }
  }

  #answered(): void {
    this.#exchange.lastAnswerAt = this.#core.clock.now();
    this.#failures = 0;
  }

  #report(operation: string, error: unknown): void {
    tellFailed(this.#core.log, { worker: this.id, operation, error });
    this.#events.emit('worker.error', { operation, error });
  }

  #failed(operation: string, error: unknown): boolean {
    if (this.#over.signal.aborted) return false;
    if (this.#failures++ === 0) this.#report(operation, error);
    else this.#events.emit('worker.error', { operation, error });
    const isFinal = isOwn(error) && !error.retryable;
    if (!isOwn(error, 'CLOSED') && (this.#registered || !isFinal)) return true;
    this.#endedBy = error;
    this.#end(this.#slots.runningIds());
    return false;
  }
}

const NOTHING_UNFINISHED: StopReport = { unfinished: [] };
