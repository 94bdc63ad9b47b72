/** Calls of one caller at a rate. */
import { sleep } from '../../base/pause.ts';
import type { Clock } from '../../base/time.ts';
import { afterStart, allowedAt, type RateLimit } from '../../domain/fairness/rate-limit.ts';

/** Gives turns no faster than a rate allows, in the order in which they are asked for. */
export class Pace {
  readonly #rate: RateLimit;
  readonly #clock: Clock;
  /** See `allowedAt`. */
  #tat = 0;

  constructor(rate: RateLimit, clock: Clock) {
    this.#rate = rate;
    this.#clock = clock;
  }

  /** Is fulfilled when the next call may begin; at once when the signal aborts. */
  async turn(signal: AbortSignal): Promise<void> {
    const now = this.#clock.now();
    const at = Math.max(now, allowedAt(this.#rate, this.#tat));
    this.#tat = afterStart(this.#rate, this.#tat, at);
    if (at > now) await sleep(this.#clock, at - now, signal);
  }
}
