/** Changes at a rate. */
import { sleep } from '../../base/pause.ts';
import type { Clock } from '../../base/time.ts';
import { afterStart, allowedAt, type RateLimit } from '../../domain/fairness/rate-limit.ts';

/** Gives turns no faster than a rate allows, in the order in which they are asked for. */
export class Pace {
  readonly #rate: RateLimit;
  readonly #clock: Clock;
  #tat: number;

  /** `tat`: what was taken before, see `allowedAt`. */
  constructor(rate: RateLimit, clock: Clock, tat = 0) {
    this.#rate = rate;
    this.#clock = clock;
    this.#tat = tat;
  }

  /** What was taken so far, for who goes on with it. */
  get tat(): number {
    return this.#tat;
  }

  /** Is fulfilled when the next call may begin; at once when the signal aborts. */
  async turn(signal: AbortSignal): Promise<void> {
    const now = this.#clock.now();
    const at = Math.max(now, allowedAt(this.#rate, this.#tat));
    this.#tat = afterStart(this.#rate, this.#tat, at);
    if (at > now) await sleep(this.#clock, at - now, signal);
  }
}
