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
import { awaitLastCalls, emptySlots, type StopReport } from './shutdown.ts';
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
 * Leases tasks in fair order and runs their handlers. Made by `Fairloom.worker`; idle until it is
 * started. An outage is an event; the worker recovers by itself.
 *
 * Tasks pass through its parts: the loop leases them, slots start them, an attempt calls the
 * handler and decides, and settlements go back with the loop's next call.
 */
export class Worker {
  /** Its id in listings and attempts, unique among live workers. */
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
  /** Absent: other processes fire schedules. */
  readonly #scheduler: Scheduler | undefined;
  /** Aborts when a stop must not wait any longer. */
  readonly #hurry = new AbortController();
  #isPaused = false;
  #state: WorkerState = 'new';
  #starting: Promise<void> | undefined;
  #stopping: Promise<StopReport> | undefined;
  /** The error that ended it. */
  #endedBy: unknown;

  /** @internal `onEnd` is called once, when the worker has ended for any reason. */
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

  /** Number of its slots: tasks that it runs at once. */
  get concurrency(): number {
    return this.#plan.concurrency;
  }

  /** Number of tasks that it runs now. */
  get running(): number {
    return this.#slots.used;
  }

  /** @internal Number of unsettled leases; a handler that outlives its lease is not counted. */
  get leased(): number {
    return this.#settlements.leased.count;
  }

  /** False while it cannot reach the backend, and after it has stopped. */
  get isHealthy(): boolean {
    return this.#state === 'running' && this.#health.isHealthy;
  }

  /** Adds a listener; the returned function removes it. A listener that throws is logged. */
  on<Name extends keyof WorkerEvents>(
    name: Name,
    listener: (event: WorkerEvents[Name]) => void,
  ): Unsubscribe {
    return this.#events.on(name, listener);
  }

  /**
   * Starts to lease. Resolves when the backend has registered the worker; during an outage it
   * waits. May be called twice.
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
   * Stops leasing, lets running handlers end within the grace, aborts the others, releases
   * unfinished tasks, and stores the results of finished ones. Never rejects. A second call with
   * less grace shortens the first.
   */
  stop(options: StopOptions = {}): Promise<StopReport> {
    const graceMs = graceOf(options) ?? this.#plan.graceMs;
    if (graceMs === 0) atRoot(() => this.#hurry.abort());
    this.#stopping ??= atRoot(() => this.#stop(graceMs));
    return this.#stopping;
  }

  /** Stops leasing until `resume`; running tasks continue, and their leases are extended. */
  pause(): void {
    this.#isPaused = true;
    this.#loop.isOpen = false;
  }

  /** Leases again after {@link Worker.pause}. */
  resume(): void {
    this.#isPaused = false;
    if (this.#state === 'running') atRoot(() => this.#lease());
  }

  /** Resolves when no task runs and none is ready to lease. For tests and drains. */
  whenIdle(): Promise<boolean> {
    const isIdle = (): boolean =>
      this.#state !== 'running' || (this.#slots.used === 0 && this.#loop.isQuiet);
    return this.#line.changed.until(isIdle, this.#line.ended.signal);
  }

  /** Passes a cancel by this process to the handler, without the delay of a heartbeat. */
  noticeCancel(taskId: string, cause: Cause, holder?: string): void {
    atRoot(() => {
      const own = [...this.#settlements.leased.all()].filter((one) => one.taskId === taskId);
      for (const attempt of own) this.#slots.interrupt(attempt, { type: 'cancel', cause });
      if (own.length === 0 && holder === this.id) this.#slots.canceledOnItsWay(taskId, cause);
      const waiting = this.#suspended.byTask.get(taskId)?.attempt;
      this.#suspended.leave(taskId, new TaskCanceledError(taskId, cause));
      if (waiting?.hasGroups === true) waiting.abandonGroups(cause);
    });
  }

  /** Ends at once: results of running handlers are dropped, leases expire. */
  abandon(): void {
    atRoot(() => this.#end(this.#slots.runningIds()));
  }

  async #start(): Promise<void> {
    this.#state = 'running';
    this.#core.keepAlive.hold();
    this.#health.start();
    this.#lease();
    const { changed, ended } = this.#line;
    await changed.until(() => this.#line.isRegistered, ended.signal);
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
    if (!line.ended.signal.aborted && line.isRegistered) {
      const calls = [line.unregister(), this.#scheduler?.leave()];
      await awaitLastCalls(line.clock, calls, line.ended.signal);
    }
    this.#end(unfinished);
    return { unfinished };
  }

  /** Stops all parts, once. */
  #end(unfinished: readonly string[]): void {
    if (this.#state === 'stopped') return;
    if (this.#state !== 'new') this.#core.keepAlive.letGo();
    this.#state = 'stopped';
    this.#line.ended.abort();
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
