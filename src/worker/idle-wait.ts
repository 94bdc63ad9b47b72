import { pauseMs, sleep } from '../base/pause.ts';
import { elapsedMs, type Timer } from '../base/time.ts';
import type { Leased } from '../domain/port/backend.ts';
import type { Line } from './line.ts';

/**
 * Duration of one wait for a notice of work, in ms. The wait stays open while the worker is busy, so
 * a long one costs nothing and saves calls of the backend.
 */
const WAIT_MS = 30_000;

/** A wait that ended without a notice after less than this part of its time has failed. */
const REAL_WAIT = 0.5;

/** Waits for work while there is none: for a notice of the backend, and for the next due time. */
export class IdleWait {
  readonly #line: Line;
  /** Asks for work. */
  readonly #request: () => void;
  /** Receives a task that came instead of a notice. */
  readonly #handed: (lease: Leased) => void;
  readonly #closing = new AbortController();
  /** A wait at the backend is open. */
  #isWaiting = false;
  /** Set for the next due time, or for the longest time between two requests of an idle worker. */
  #timer: Timer | undefined;
  #failures = 0;

  constructor(line: Line, request: () => void, handed: (lease: Leased) => void) {
    this.#line = line;
    this.#request = request;
    this.#handed = handed;
  }

  /** Asks for work on a notice of the backend, and after `ms`. */
  open(ms: number): void {
    if (this.#closing.signal.aborted) return;
    this.#timer?.cancel();
    this.#timer = this.#line.clock.setTimer(ms, this.#request);
    if (this.#isWaiting) return;
    this.#isWaiting = true;
    void this.#wait();
  }

  close(): void {
    this.#timer?.cancel();
    this.#closing.abort();
  }

  async #wait(): Promise<void> {
    let canRetry = true;
    try {
      await this.#untilNotified();
    } catch (error) {
      canRetry = this.#line.failed('wait for work', error);
      if (canRetry) await this.#pause('failed');
    }
    this.#isWaiting = false;
    if (canRetry && !this.#closing.signal.aborted) this.#request();
  }

  /** After a task that was handed over no request is needed. */
  async #untilNotified(): Promise<void> {
    const { backend, clock, worker } = this.#line;
    const { signal } = this.#closing;
    for (;;) {
      const from = elapsedMs(clock);
      const answer = await backend.workers.waitForWork(worker, WAIT_MS, signal);
      const tooSoon = answer === 'timeout' && elapsedMs(clock) - from < WAIT_MS * REAL_WAIT;
      if (tooSoon && !signal.aborted) await this.#pause('unknown');
      else this.#failures = 0;
      if (typeof answer !== 'object') return;
      this.#handed(answer);
      if (signal.aborted) return;
    }
  }

  async #pause(why: 'unknown' | 'failed'): Promise<void> {
    const { clock, random } = this.#line;
    this.#failures++;
    if (why === 'unknown') this.#line.forget();
    await sleep(clock, pauseMs(this.#failures, random()), this.#closing.signal);
  }
}
