/** Something that is to happen so many times. */
export class Countdown {
  /** Resolves when it has. */
  readonly zero: Promise<void>;
  #left: number;
  #open: () => void = () => undefined;

  constructor(from: number) {
    this.#left = from;
    this.zero = new Promise((resolve) => {
      this.#open = resolve;
    });
  }

  /** Once more. */
  down(): void {
    this.#left--;
    if (this.#left === 0) this.#open();
  }
}
