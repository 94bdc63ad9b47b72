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

/** A worker that was silent for this long, in ms, may have been forgotten: it registers again. */
const FORGOTTEN_MS = LIMITS.workerIdMs;

/** A worker whose id another one has looks again after so many ms. */
const TAKEN_MS = 1_000;

/**
 * The line of one worker to its backend: by which name it is known there, when that last answered,
 * and what a call that failed means. All of its parts call over it.
 */
export class Line {
  readonly core: Core;
  readonly backend: Backend;
  readonly clock: Clock;
  readonly random: () => number;
  /** The worker's id. */
  readonly worker: string;
  readonly events: Emitter<WorkerEvents>;
  /** Aborts when everything is given up. */
  readonly over: AbortController = new AbortController();
  /** Signals each change that code of this worker can wait for. */
  readonly changed: Condition = new Condition();
  /** When the backend last answered, in elapsed time. */
  lastAnswerAt: number;
  /** The backend has taken the worker in at least once. */
  isRegistered = false;
  /** How many calls that may lease were begun; says whether one was under way meanwhile. */
  leasesBegun = 0;
  /** A call that may lease is under way. */
  isLeasing = false;
  /** Tells the lease loop that a settlement waits, or that slots have come back. */
  notify: () => void = nothing;
  /** Some schedule is due. */
  onSchedulesDue: (() => void) | undefined;
  readonly #spec: WorkerSpec;
  readonly #instance = randomName();
  /** Ends the worker: without it nothing would come of going on. */
  readonly #giveUp: (error: unknown) => void;
  #needsRegister = true;
  /** When the backend last answered, on the worker's clock. */
  #lastAnswerMoment: number;
  /** Calls that failed since the last answer; only the first is logged. */
  #failures = 0;

  constructor(
    core: Core,
    spec: WorkerSpec,
    events: Emitter<WorkerEvents>,
    giveUp: (error: unknown) => void,
  ) {
    this.core = core;
    this.backend = core.connection.backend;
    this.clock = core.clock;
    this.random = core.random;
    this.worker = spec.id;
    this.events = events;
    this.#spec = spec;
    this.#giveUp = giveUp;
    this.lastAnswerAt = elapsedMs(core.clock);
    this.#lastAnswerMoment = core.clock.now();
  }

  /** The backend answered. */
  answered(): void {
    this.lastAnswerAt = elapsedMs(this.clock);
    this.#lastAnswerMoment = this.clock.now();
    this.#failures = 0;
  }

  /** What a step has found besides what was asked for. */
  found({ schedulesDue, deadLetters }: Pick<TickReply, 'schedulesDue' | 'deadLetters'>): void {
    if (deadLetters !== undefined) logDeadLetters(this.core.log, deadLetters);
    if (schedulesDue) this.onSchedulesDue?.();
  }

  /** A call failed, perhaps `again`: that is logged once. False: do not try again, the worker has ended. */
  failed(operation: string, error: unknown, again = false): boolean {
    if (this.over.signal.aborted) return false;
    if (!again && this.#failures++ === 0) this.report(operation, error);
    else this.events.emit('worker.error', { operation, error });
    const isFinal = isOwn(error) && !error.retryable;
    if (!isOwn(error, 'CLOSED') && (this.isRegistered || !isFinal)) return true;
    this.#giveUp(error);
    return false;
  }

  /** Reports a failed call that is not retried. */
  report(operation: string, error: unknown): void {
    reportFailedCall(this.core.log, { worker: this.worker, operation, error });
    this.events.emit('worker.error', { operation, error });
  }

  /** The backend may not know the worker any more: it registers before the next step. */
  forget(): void {
    this.#needsRegister = true;
  }

  /**
   * Whether the worker must register before its next step; one that was silent for long is forgotten, also when its
   * machine has slept.
   */
  get isUnknown(): boolean {
    return this.#needsRegister || this.clock.now() - this.#lastAnswerMoment > FORGOTTEN_MS;
  }

  async register(): Promise<void> {
    const backend = await this.core.connection.ready();
    // Once known it only goes on, so that what it has done still counts.
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

  /** Who had this id may have died without a word: it is free when that one was silent for long enough. */
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
          this.over.signal.aborted
        )
          throw error;
        if (tries === 0) this.report('register', error);
        await sleep(this.clock, TAKEN_MS, this.over.signal);
      }
    }
  }
}

function nothing(): void {
  // The loop is not there yet, and nothing is to be done.
}
