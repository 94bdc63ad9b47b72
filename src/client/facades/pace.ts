/** Changes at a rate. */
import { sleep } from '../../base/pause.ts';
import { type Clock, elapsedMs } from '../../base/time.ts';
import { afterStart, allowedAt, type RateLimit } from '../../domain/fairness/rate-limit.ts';

/** Gives turns no faster than a rate allows, in the order in which they are asked for. */
export class Pace {
  readonly #rate: RateLimit;
  readonly #clock: Clock;
  /** In elapsed time. */
  #tat: number;

  /** `tat`: what was taken before, see `allowedAt`. */
  constructor(rate: RateLimit, clock: Clock, tat = 0) {
    this.#rate = rate;
    this.#clock = clock;
    this.#tat = tat - this.#sinceEpoch;
  }

  /** What was taken so far, for who goes on with it. */
  get tat(): number {
    return this.#tat + this.#sinceEpoch;
  }

  /** Of elapsed time, by which turns go: the clock may be set between two of them. */
  get #sinceEpoch(): number {
    return this.#clock.now() - elapsedMs(this.#clock);
  }

  /** Is fulfilled when the next call may begin; at once when the signal aborts. */
  async turn(signal: AbortSignal): Promise<void> {
    const now = elapsedMs(this.#clock);
    const at = Math.max(now, allowedAt(this.#rate, this.#tat));
    this.#tat = afterStart(this.#rate, this.#tat, at);
    if (at > now) await sleep(this.#clock, at - now, signal);
  }
}
