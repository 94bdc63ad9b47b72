/** Changes at a rate. */
import { sleep } from '../../base/pause.ts';
import { type Clock, elapsedMs } from '../../base/time.ts';
import { afterStart, allowedAt, type RateLimit } from '../../domain/fairness/rate-limit.ts';

/** Spaces calls by a rate, in the order in which they ask. */
export class Pace {
  readonly #rate: RateLimit;
  readonly #clock: Clock;
  /** In elapsed time. */
  #tat: number;

  /** `tat`: state of an earlier pace, see `allowedAt`. */
  constructor(rate: RateLimit, clock: Clock, tat = 0) {
    this.#rate = rate;
    this.#clock = clock;
    this.#tat = tat - this.#sinceEpoch;
  }

  /** The state, for a later pace. */
  get tat(): number {
    return this.#tat + this.#sinceEpoch;
  }

  /** In elapsed time: the clock may be set between two turns. */
  get #sinceEpoch(): number {
    return this.#clock.now() - elapsedMs(this.#clock);
  }

  /** Resolves when the next call may begin; at once when the signal aborts. */
  async turn(signal: AbortSignal): Promise<void> {
    const now = elapsedMs(this.#clock);
    const at = Math.max(now, allowedAt(this.#rate, this.#tat));
    this.#tat = afterStart(this.#rate, this.#tat, at);
    if (at > now) await sleep(this.#clock, at - now, signal);
  }
}
