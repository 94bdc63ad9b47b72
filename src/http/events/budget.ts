/** How much of the time readings may take: one part in so many, with what was saved up a moment before. */

/** What is not used is saved for so long, in ms. */
const SAVED_MS = 1_000;

/** One reading counts as so much at most, in ms: the store may have been away, which is no work. */
const MOST_MS = 500;

/** Says when the next reading may begin. */
export class Budget {
  readonly #part: number;
  #freeAt = 0;

  /** Of two, the one with the lower rank has had less. */
  get rank(): number {
    return this.#freeAt;
  }

  /** Of the time, one part in `part`. */
  constructor(part: number) {
    this.#part = part;
  }

  /** Ms until it may be spent again. A clock that was set back makes it no longer than one reading does. */
  waitMs(now: number): number {
    this.#freeAt = Math.min(this.#freeAt, now + MOST_MS * this.#part);
    return Math.max(0, this.#freeAt - now);
  }

  /** Whether all of it is there, as if nothing had ever been spent. */
  isWhole(now: number): boolean {
    return this.#freeAt <= now - SAVED_MS;
  }

  spend(now: number, ms: number): void {
    this.#freeAt = Math.max(this.#freeAt, now - SAVED_MS) + Math.min(ms, MOST_MS) * this.#part;
  }
}
