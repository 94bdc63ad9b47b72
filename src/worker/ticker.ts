import type { Clock, Timer } from '../base/time.ts';
import { LIMITS } from '../domain/limits.ts';
import type { Backend } from '../domain/port/backend.ts';

interface TickerParts {
  readonly backend: Backend;
  readonly clock: Clock;
  readonly random: () => number;
  /** Tasks run here: an idle worker leaves maintenance to the alarm of its wait. */
  readonly isBusy: () => boolean;
  /** When the backend last answered this worker. */
  readonly lastAnswerAt: () => number;
  readonly answered: () => void;
  /** Some schedule is due. */
  readonly schedulesDue: () => void;
  /** False: the worker has ended. */
  readonly failed: (operation: string, error: unknown) => boolean;
}

/** Spread of the period, so that workers do not tick together. */
const JITTER = 0.2;

/** Ticks in one go at most; the rest comes with the next period. */
const MOST_IN_A_ROW = 50;

/**
 * Runs the backend's maintenance while this worker is busy: every lease, settle and extend does it
 * too, so it is needed only when none of them came for a while.
 */
export class Ticker {
  readonly #parts: TickerParts;
  /** Set while the worker is busy. */
  #timer: Timer | undefined;
  #isTicking = false;
  #stopped = false;

  constructor(parts: TickerParts) {
    this.#parts = parts;
  }

  /** The worker has become busy. */
  wake(): void {
    if (this.#timer === undefined && !this.#isTicking) this.#arm(this.#periodMs());
  }

  stop(): void {
    this.#stopped = true;
    this.#timer?.cancel();
    this.#timer = undefined;
  }

  #periodMs(): number {
    return LIMITS.tickMs * (1 - JITTER + 2 * JITTER * this.#parts.random());
  }

  #arm(ms: number): void {
    if (this.#stopped) return;
    this.#timer = this.#parts.clock.setTimer(Math.max(1, Math.round(ms)), () => {
      this.#timer = undefined;
      void this.#fire();
    });
  }

  async #fire(): Promise<void> {
    const { clock, isBusy, lastAnswerAt } = this.#parts;
    if (!isBusy()) return;
    const restMs = lastAnswerAt() + LIMITS.tickMs * (1 - JITTER) - clock.now();
    if (restMs <= 0) await this.#tick();
    this.#arm(restMs > 0 ? restMs : this.#periodMs());
  }

  async #tick(): Promise<void> {
    const { backend, answered, failed, schedulesDue } = this.#parts;
    this.#isTicking = true;
    try {
      for (let count = 0; count < MOST_IN_A_ROW && !this.#stopped; count++) {
        const reply = await backend.tasks.tick();
        answered();
        if (reply.schedulesDue) schedulesDue();
        if (!reply.more) break;
      }
    } catch (error) {
      if (!failed('tick', error)) this.stop();
    }
    this.#isTicking = false;
  }
}
