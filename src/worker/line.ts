import { Condition } from '../base/condition.ts';
import { sleep } from '../base/pause.ts';
import { type Clock, elapsedMs } from '../base/time.ts';
import type { Core } from '../core/core.ts';
import { randomName } from '../core/ids.ts';
import { isOwn } from '../domain/errors/errors.ts';
import { isWorkerIdTaken } from '../domain/errors/worker-id.ts';
import { LIMITS } from '../domain/limits.ts';
import type { Backend, TickReply, WorkerSpec } from '../domain/port/backend.ts';
import type { Emitter } from '../events/emitter.ts';
import type { WorkerEvents } from '../events/worker-events.ts';
import { logDeadLetters } from '../logging/dead-letter-lines.ts';
import { reportFailedCall } from './report.ts';

/** After this silence, in ms, the backend may have forgotten the worker: it registers again. */
const FORGOTTEN_MS = LIMITS.workerIdMs;

/** Time until the next try, in ms, when another worker has the id. */
const TAKEN_MS = 1_000;

/**
 * The connection of one worker to its backend: its id, the time of the last reply, and the handling
 * of failed calls. All parts of the worker call the backend through it.
 */
export class Line {
  readonly core: Core;
  readonly backend: Backend;
  readonly clock: Clock;
  readonly random: () => number;
  /** Id of the worker. */
  readonly worker: string;
  readonly events: Emitter<WorkerEvents>;
  /** Aborts when the worker ends. */
  readonly ended: AbortController = new AbortController();
  /** Signals changes to code of this worker that waits for them. */
  readonly changed: Condition = new Condition();
  /** Time of the backend's last reply, in elapsed time. */
  lastAnswerAt: number;
  /** The backend has registered the worker at least once. */
  isRegistered = false;
  /** Number of started calls that may lease; shows whether one was under way meanwhile. */
  leasesBegun = 0;
  /** A call that may lease is under way. */
  isLeasing = false;
  /** Notifies the lease loop of pending settlements or free slots. */
  notify: () => void = nothing;
  /** Called when a schedule is due. */
  onSchedulesDue: (() => void) | undefined;
  readonly #spec: WorkerSpec;
  readonly #instance = randomName();
  /** Ends the worker after an error that would not pass. */
  readonly #endWorker: (error: unknown) => void;
  #needsRegister = true;
  /** Moment of the backend's last reply, on the worker's clock. */
  #lastAnswerMoment: number;
  /** Number of failed calls since the last reply; only the first is logged. */
  #failures = 0;

  constructor(
    core: Core,
    spec: WorkerSpec,
    events: Emitter<WorkerEvents>,
    endWorker: (error: unknown) => void,
  ) {
    this.core = core;
    this.backend = core.connection.backend;
    this.clock = core.clock;
    this.random = core.random;
    this.worker = spec.id;
    this.events = events;
    this.#spec = spec;
    this.#endWorker = endWorker;
    this.lastAnswerAt = elapsedMs(core.clock);
    this.#lastAnswerMoment = core.clock.now();
  }

  /** Records a reply of the backend. */
  answered(): void {
    this.lastAnswerAt = elapsedMs(this.clock);
    this.#lastAnswerMoment = this.clock.now();
    this.#failures = 0;
  }

  /** Handles further results of a step: dead letters and due schedules. */
  found({ schedulesDue, deadLetters }: Pick<TickReply, 'schedulesDue' | 'deadLetters'>): void {
    if (deadLetters !== undefined) logDeadLetters(this.core.log, deadLetters);
    if (schedulesDue) this.onSchedulesDue?.();
  }

  /** Handles a failed call, a retry if `again`; logs it once. @returns whether to retry. */
  failed(operation: string, error: unknown, again = false): boolean {
    if (this.ended.signal.aborted) return false;
    if (!again && this.#failures++ === 0) this.report(operation, error);
    else this.events.emit('worker.error', { operation, error });
    const isFinal = isOwn(error) && !error.retryable;
    if (!isOwn(error, 'CLOSED') && (this.isRegistered || !isFinal)) return true;
    this.#endWorker(error);
    return false;
  }

  /** Reports a failed call that is not retried. */
  report(operation: string, error: unknown): void {
    reportFailedCall(this.core.log, { worker: this.worker, operation, error });
    this.events.emit('worker.error', { operation, error });
  }

  /** The backend may have forgotten the worker: it registers before the next step. */
  forget(): void {
    this.#needsRegister = true;
  }

  /**
   * Whether the worker must register before its next step; after a long silence, even of a suspended machine, the
   * backend has forgotten it.
   */
  get isUnknown(): boolean {
    return this.#needsRegister || this.clock.now() - this.#lastAnswerMoment > FORGOTTEN_MS;
  }

  async register(): Promise<void> {
    const backend = await this.core.connection.ready();
    // A registered worker continues as the same instance, so that its counts stay.
    await this.#untilFree(() =>
      backend.workers.register(this.#spec, {
        instance: this.#instance,
        ...(!this.isRegistered && { starts: true }),
      }),
    );
    this.isRegistered = true;
    this.#needsRegister = false;
    this.changed.check();
  }

  async unregister(): Promise<void> {
    await this.backend.workers.unregister(this.worker, this.#instance);
  }

  /** The worker with this id may have died: its id is free after a long enough silence. */
  async #untilFree(register: () => Promise<void>): Promise<void> {
    const from = elapsedMs(this.clock);
    for (let tries = 0; ; tries++) {
      try {
        return await register();
      } catch (error) {
        const waited = elapsedMs(this.clock) - from;
        if (
          !isWorkerIdTaken(error) ||
          waited > LIMITS.workerIdMs + TAKEN_MS ||
          this.ended.signal.aborted
        )
          throw error;
        if (tries === 0) this.report('register', error);
        await sleep(this.clock, TAKEN_MS, this.ended.signal);
      }
    }
  }
}

function nothing(): void {
  // No-op until the loop is set.
}
