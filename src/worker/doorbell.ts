import { pauseMs, sleep } from '../base/pause.ts';
import type { Clock, Timer } from '../base/time.ts';
import type { Backend, Leased } from '../domain/port/backend.ts';

interface DoorbellParts {
  readonly backend: Backend;
  readonly clock: Clock;
  readonly random: () => number;
  readonly worker: string;
  /** There may be work. */
  readonly ring: () => void;
  /** A task came in place of a sign. */
  readonly handed: (lease: Leased) => void;
  /** False: the worker has ended. */
  readonly failed: (operation: string, error: unknown) => boolean;
  /** The wait ended at once: the backend does not know this worker. */
  readonly unknown: () => void;
}

/**
 * How long one wait for a sign lasts, in ms. It is kept while the worker is busy and while it asks
 * by itself, so a long one costs nothing and spares the backend calls.
 */
const SIGN_MS = 30_000;

/** A wait that ended after less than this part of its time, without a sign, was none. */
const REAL_WAIT = 0.5;

/** Waits for work while there is none: for the backend's sign, and for the next due time. */
export class Doorbell {
  readonly #parts: DoorbellParts;
  readonly #closing = new AbortController();
  /** A wait for the backend's sign is under way. */
  #isWaiting = false;
  /** Set for the next due time, or the time after which an idle worker asks anyway. */
  #timer: Timer | undefined;
  #failures = 0;

  constructor(parts: DoorbellParts) {
    this.#parts = parts;
  }

  /** Rings at the backend's sign, and when `ms` are over. */
  open(ms: number): void {
    if (this.#closing.signal.aborted) return;
    this.#timer?.cancel();
    this.#timer = this.#parts.clock.setTimer(ms, this.#parts.ring);
    if (this.#isWaiting) return;
    this.#isWaiting = true;
    void this.#wait();
  }

  close(): void {
    this.#timer?.cancel();
    this.#closing.abort();
  }

  async #wait(): Promise<void> {
    const { ring } = this.#parts;
    const { signal } = this.#closing;
    let rings = true;
    try {
      await this.#untilSign();
    } catch (error) {
      rings = this.#parts.failed('wait for work', error);
      if (rings) await this.#pause('failed');
    }
    this.#isWaiting = false;
    if (rings && !signal.aborted) ring();
  }

  /** A task that comes in place of a sign is no reason to ask. */
  async #untilSign(): Promise<void> {
    const { backend, clock, worker } = this.#parts;
    const { signal } = this.#closing;
    for (;;) {
      const from = clock.now();
      const answer = await backend.workers.waitForWork(worker, SIGN_MS, signal);
      const tooSoon = answer === 'timeout' && clock.now() - from < SIGN_MS * REAL_WAIT;
      if (tooSoon && !signal.aborted) await this.#pause('unknown');
      else this.#failures = 0;
      if (typeof answer !== 'object') return;
      this.#parts.handed(answer);
      if (signal.aborted) return;
    }
  }

  async #pause(why: 'unknown' | 'failed'): Promise<void> {
    const { clock, random } = this.#parts;
    this.#failures++;
    if (why === 'unknown') this.#parts.unknown();
    await sleep(clock, pauseMs(this.#failures, random()), this.#closing.signal);
  }
}
