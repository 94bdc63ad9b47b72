/** The instants `anchor`, `anchor + every`, …, independent of starts and stops of processes. */
export class EveryTimes {
  readonly #everyMs: number;
  readonly #anchor: number;

  constructor(everyMs: number, anchor: number) {
    this.#everyMs = everyMs;
    this.#anchor = anchor;
  }

  /** The first instant after `at`. */
  next(at: number): number {
    if (at < this.#anchor) return this.#anchor;
    return this.#anchor + (Math.floor((at - this.#anchor) / this.#everyMs) + 1) * this.#everyMs;
  }
}
