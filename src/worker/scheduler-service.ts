import { atRoot } from '../base/async-scope.ts';
import type { Core } from '../core/core.ts';
import { randomName } from '../core/ids.ts';
import { ClosedError, isOwn } from '../domain/errors/errors.ts';
import { checkOptions, keysOf, type OptionKeys } from '../domain/errors/options.ts';
import { checkName } from '../domain/fairness/names.ts';
import { LIMITS } from '../domain/limits.ts';
import { Emitter, type Unsubscribe } from '../events/emitter.ts';
import type { WorkerEvents } from '../events/worker-events.ts';
import { say } from '../logging/log-events.ts';
import { SCHEDULER_EVENTS, Scheduler, type SchedulerEvents } from '../schedules/scheduler.ts';
import { awaitLastCalls } from './shutdown.ts';

/** Options of a scheduler without a worker. */
export interface SchedulerOptions {
  /** Its id, unique among schedulers and workers. Default: process id and random letters. */
  readonly id?: string | undefined;
}

const KEYS: OptionKeys<SchedulerOptions> = keysOf<SchedulerOptions>()({ id: true });

/** Events of such a scheduler. */
export type SchedulerServiceEvents = SchedulerEvents & Pick<WorkerEvents, 'worker.error'>;

const SERVICE_EVENTS: OptionKeys<SchedulerServiceEvents> = keysOf<SchedulerServiceEvents>()({
  ...SCHEDULER_EVENTS,
  'worker.error': true,
});

/**
 * Fires schedules and runs no tasks: for deployments whose workers do not fire. Made by
 * `Fairloom.scheduler`; idle until it is started. During an outage it waits.
 */
export class SchedulerService {
  /** Its id among schedulers. */
  readonly id: string;
  readonly #core: Core;
  readonly #events: Emitter<SchedulerServiceEvents>;
  readonly #ended = new AbortController();
  #scheduler: Scheduler | undefined;
  #starting: Promise<void> | undefined;
  #stopping: Promise<void> | undefined;
  #failures = 0;

  /** @internal */
  constructor(core: Core, options: SchedulerOptions) {
    checkOptions('scheduler', options, KEYS);
    const { id } = options;
    this.id = id === undefined ? `s${process.pid}-${randomName()}` : checkName('id', id);
    this.#core = core;
    this.#events = new Emitter(core.log, SERVICE_EVENTS);
  }

  /** Adds a listener; the returned function removes it. A listener that throws is logged. */
  on<Name extends keyof SchedulerServiceEvents>(
    name: Name,
    listener: (event: SchedulerServiceEvents[Name]) => void,
  ): Unsubscribe {
    return this.#events.on(name, listener);
  }

  /**
   * Starts to fire. May be called twice.
   *
   * @throws {@link BackendUnavailableError} when the backend cannot be reached now;
   * {@link BackendUnsupportedError}; {@link ClosedError} when it was stopped before.
   */
  start(): Promise<void> {
    if (this.#stopping !== undefined) return Promise.reject(new ClosedError('the scheduler'));
    this.#starting ??= atRoot(() => this.#start());
    return this.#starting;
  }

  /** Stops firing, so that another scheduler takes over at once. Never rejects. */
  stop(): Promise<void> {
    this.#stopping ??= this.#stop();
    return this.#stopping;
  }

  async #stop(): Promise<void> {
    const leaving = this.#scheduler?.leave();
    if (leaving !== undefined) {
      await awaitLastCalls(this.#core.clock, [leaving], this.#ended.signal);
      this.#core.keepAlive.letGo();
    }
    this.#ended.abort();
  }

  async #start(): Promise<void> {
    const { connection, clock, random, keepAlive } = this.#core;
    const backend = await connection.open();
    if (this.#stopping !== undefined) throw new ClosedError('the scheduler');
    keepAlive.hold();
    this.#scheduler = new Scheduler({
      ...{ backend, clock, random, owner: this.id, pollMs: LIMITS.scheduleRetryMs },
      events: this.#events,
      // Workers that run these tasks get the cancel with their next heartbeat.
      canceled: () => undefined,
      failed: (operation, error) => this.#failed(operation, error),
      answered: () => {
        this.#failures = 0;
      },
    });
    this.#scheduler.start();
  }

  #failed(operation: string, error: unknown): boolean {
    if (this.#ended.signal.aborted || isOwn(error, 'CLOSED')) return false;
    if (this.#failures++ === 0) {
      const fields = { scheduler: this.id, operation, error };
      const message = `scheduler ${this.id}: ${operation} failed`;
      say(this.#core.log, 'scheduler.call-failed', message, fields);
    }
    this.#events.emit('worker.error', { operation, error });
    return true;
  }
}
