import { pauseMs, sleep } from '../base/pause.ts';
import { elapsedMs, type Timer } from '../base/time.ts';
import type { Leased } from '../domain/port/backend.ts';
import type { Line } from './line.ts';

/**
 * How long one wait to be told of work lasts, in ms. It is kept while the worker is busy and while it
 * asks by itself, so a long one costs nothing and spares the backend calls.
 */
const WAIT_MS = 30_000;

/** A wait that ended after less than this part of its time, without being told, was none. */
const REAL_WAIT = 0.5;

/** Waits for work while there is none: to be told by the backend, and for the next due time. */
export class IdleWait {
  readonly #line: Line;
  /** There may be work. */
  readonly #request: () => void;
  /** A task came in place of being told. */
  readonly #handed: (lease: Leased) => void;
  readonly #closing = new AbortController();
  /** The backend is to tell of work. */
  #isWaiting = false;
  /** Set for the next due time, or the time after which an idle worker asks anyway. */
  #timer: Timer | undefined;
  #failures = 0;

  constructor(line: Line, request: () => void, handed: (lease: Leased) => void) {
    this.#line = line;
    this.#request = request;
    this.#handed = handed;
  }

  /** Asks for work when the backend tells of some, and when `ms` are over. */
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
    let goesOn = true;
    try {
      await this.#untilNotified();
    } catch (error) {
      goesOn = this.#line.failed('wait for work', error);
      if (goesOn) await this.#pause('failed');
    }
    this.#isWaiting = false;
    if (goesOn && !this.#closing.signal.aborted) this.#request();
  }

  /** A task that is handed over is no reason to ask. */
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
