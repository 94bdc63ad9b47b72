/** Waits until an event has happened this many times. */
export class Countdown {
  /** Resolves then. */
  readonly zero: Promise<void>;
  #left: number;
  #open: () => void = () => undefined;

  constructor(from: number) {
    this.#left = from;
    this.zero = new Promise((resolve) => {
      this.#open = resolve;
    });
  }

  /** Counts one. */
  down(): void {
    this.#left--;
    if (this.#left === 0) this.#open();
  }
}
