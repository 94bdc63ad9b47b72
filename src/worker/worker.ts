import { atRoot } from '../base/async-scope.ts';
import type { Core } from '../core/core.ts';
import { randomName } from '../core/ids.ts';
import { ClosedError, TaskCanceledError } from '../domain/errors/errors.ts';
import type { Cause } from '../domain/task/cause.ts';
import { Emitter, type Unsubscribe } from '../events/emitter.ts';
import { WORKER_EVENTS, type WorkerEvents } from '../events/worker-events.ts';
import { Scheduler } from '../schedules/scheduler.ts';
import { WorkerHealth } from './health.ts';
import { LeaseLoop } from './lease-loop.ts';
import { Line } from './line.ts';
import { Settlements } from './settlements.ts';
import { emptySlots, type StopReport, sayGoodbye } from './shutdown.ts';
import { Slots } from './slots.ts';
import { SuspendedHandlers } from './suspended-handlers.ts';
import { LeaseKeeper, Ticker } from './upkeep.ts';
import {
  graceOf,
  type StopOptions,
  specOf,
  type WorkerOptions,
  type WorkerPlan,
  workerPlan,
} from './worker-options.ts';

type WorkerState = 'new' | 'running' | 'stopping' | 'stopped';

/**
 * Leases tasks in fair order and runs their handlers. Made by `Fairloom.worker`; does nothing
 * until it is started. What it hears of an outage is an event; it goes on by itself.
 *
 * Within it tasks pass through a pipe: the loop leases them, slots start them, an attempt calls the
 * handler and decides, and settlements go back to the loop's next call.
 */
export class Worker {
  /** Unique among live workers; names it in listings and attempts. */
  readonly id: string;
  readonly #core: Core;
  readonly #onEnd: (worker: Worker) => void;
  readonly #plan: WorkerPlan;
  readonly #events: Emitter<WorkerEvents>;
  readonly #line: Line;
  readonly #suspended = new SuspendedHandlers();
  readonly #settlements: Settlements;
  readonly #slots: Slots;
  readonly #keeper: LeaseKeeper;
  readonly #ticker: Ticker;
  readonly #loop: LeaseLoop;
  readonly #health: WorkerHealth;
  /** Absent: schedules are others' work. */
  readonly #scheduler: Scheduler | undefined;
  /** Aborts when a stop shall wait no longer. */
  readonly #hurry = new AbortController();
  #isPaused = false;
  #state: WorkerState = 'new';
  #starting: Promise<void> | undefined;
  #stopping: Promise<StopReport> | undefined;
  /** Why it ended by itself. */
  #endedBy: unknown;

  /** @internal `onEnd` is called once the worker has ended, for any reason. */
  constructor(core: Core, options: WorkerOptions, onEnd: (worker: Worker) => void) {
    this.#core = core;
    this.#onEnd = onEnd;
    this.#plan = workerPlan(options, () => `w${process.pid}-${randomName()}`);
    this.id = this.#plan.id;
    this.#events = new Emitter(core.log, WORKER_EVENTS);
    const known = { names: core.handlers.names(), pipelines: core.registry.pipelines() };
    this.#line = new Line(core, specOf(this.#plan, known), this.#events, (error) => {
      this.#endedBy = error;
      this.#end(this.#slots.runningIds());
    });
    this.#settlements = new Settlements(this.#line, this.#suspended);
    this.#slots = new Slots(this.#line, this.#plan, this.#settlements, this.#suspended);
    this.#keeper = new LeaseKeeper(this.#line, this.#slots, this.#settlements);
    this.#ticker = new Ticker(this.#line, this.#slots);
    const pipe = { slots: this.#slots, settlements: this.#settlements };
    const upkeep = { keeper: this.#keeper, ticker: this.#ticker };
    this.#loop = new LeaseLoop(this.#line, this.#plan, pipe, upkeep);
    this.#health = new WorkerHealth(this.#line, this.#slots);
    if (!this.#plan.scheduler) return;
    const scheduler = this.#newScheduler();
    this.#scheduler = scheduler;
    this.#line.onSchedulesDue = () => scheduler.wake();
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
    return this.#settlements.leased.count;
  }

  /** False while it cannot reach the backend, and once it has stopped. */
  get isHealthy(): boolean {
    return this.#state === 'running' && this.#health.isHealthy;
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
    const isStopped = this.#stopping !== undefined || this.#state === 'stopped';
    if (isStopped && this.#endedBy === undefined) {
      return Promise.reject(new ClosedError('the worker'));
    }
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
    this.#loop.isOpen = false;
  }

  /** Leases again after {@link Worker.pause}. */
  resume(): void {
    this.#isPaused = false;
    if (this.#state === 'running') atRoot(() => this.#lease());
  }

  /** Fulfilled when nothing runs and nothing is left to lease now. For tests and drains. */
  whenIdle(): Promise<boolean> {
    const isIdle = (): boolean =>
      this.#state !== 'running' || (this.#slots.used === 0 && this.#loop.isQuiet);
    return this.#line.changed.until(isIdle, this.#line.over.signal);
  }

  /** A cancel that this process asked for itself: the handler need not wait for a heartbeat. */
  noticeCancel(taskId: string, cause: Cause, holder?: string): void {
    atRoot(() => {
      const own = [...this.#settlements.leased.all()].filter((one) => one.taskId === taskId);
      for (const attempt of own) this.#slots.interrupt(attempt, { type: 'cancel', cause });
      if (own.length === 0 && holder === this.id) this.#slots.canceledOnItsWay(taskId, cause);
      const waiting = this.#suspended.byTask.get(taskId)?.attempt;
      this.#suspended.leave(taskId, new TaskCanceledError(taskId, cause));
      if (waiting?.hasGroups === true) waiting.giveUpGroups(cause);
    });
  }

  /** Gives everything up at once: results of running handlers are dropped, leases lapse. */
  abandon(): void {
    atRoot(() => this.#end(this.#slots.runningIds()));
  }

  async #start(): Promise<void> {
    this.#state = 'running';
    this.#core.keepAlive.hold();
    this.#health.start();
    this.#lease();
    const { changed, over } = this.#line;
    await changed.until(() => this.#line.isRegistered, over.signal);
    if (this.#endedBy !== undefined) throw this.#endedBy;
    if (this.#line.isRegistered) this.#events.emit('worker.started', { worker: this.id });
    this.#scheduler?.start();
  }

  async #stop(graceMs: number): Promise<StopReport> {
    if (this.#state !== 'running') {
      if (this.#state === 'new') this.#end([]);
      return NOTHING_UNFINISHED;
    }
    this.#state = 'stopping';
    this.#loop.close();
    this.#scheduler?.stop();
    const line = this.#line;
    const pipe = { slots: this.#slots, loop: this.#loop };
    const unfinished = await emptySlots(line, pipe, graceMs, this.#hurry.signal);
    if (!line.over.signal.aborted && line.isRegistered) {
      const calls = [line.unregister(), this.#scheduler?.leave()];
      await sayGoodbye(line.clock, calls, line.over.signal);
    }
    this.#end(unfinished);
    return { unfinished };
  }

  /** Everything stops here, once. */
  #end(unfinished: readonly string[]): void {
    if (this.#state === 'stopped') return;
    if (this.#state !== 'new') this.#core.keepAlive.letGo();
    this.#state = 'stopped';
    this.#line.over.abort();
    this.#loop.close();
    this.#keeper.stop();
    this.#ticker.stop();
    this.#scheduler?.stop();
    this.#health.stop();
    this.#slots.abandon();
    this.#events.emit('worker.stopped', { worker: this.id, unfinished });
    this.#onEnd(this);
  }

  #lease(): void {
    this.#loop.isOpen = !this.#isPaused;
    this.#loop.request();
  }

  #newScheduler(): Scheduler {
    const { backend, clock, random } = this.#line;
    return new Scheduler({
      ...{ backend, clock, random, owner: this.id, events: this.#events },
      canceled: (ids, cause) => ids.map((id) => this.noticeCancel(id, cause)),
      failed: (operation, error) => this.#line.failed(operation, error),
      answered: () => this.#line.answered(),
    });
  }
}

const NOTHING_UNFINISHED: StopReport = { unfinished: [] };
