import { MASK } from '../base/masked-url.ts';

/**
 * A value that logs must not have: every way of printing it shows a mask, also inside of other
 * values, in JSON and in texts. Only `reveal()` gives it.
 */
export class Secret {
  readonly #value: string;
  readonly #shown: string;

  static {
    // What `console.log` and `util.inspect` ask; `inspect.custom` cannot be named in a declaration.
    Object.defineProperty(Secret.prototype, Symbol.for('nodejs.util.inspect.custom'), {
      value(this: Secret): string {
        return `Secret(${this.#shown})`;
      },
    });
  }

  /** `shown` is printed in its place; default `***`. */
  constructor(value: string, shown: string = MASK) {
    this.#value = value;
    this.#shown = shown;
  }

  /** The secret itself. */
  reveal(): string {
    return this.#value;
  }

  /** The mask. */
  toString(): string {
    return this.#shown;
  }

  /** The mask. */
  toJSON(): string {
    return this.#shown;
  }
}
