import { MASK } from '../base/masked-url.ts';

/**
 * A value that must not be logged: printing it in any way shows a mask, also inside of other
 * values, in JSON and in texts. Only `reveal()` returns it.
 */
export class Secret {
  readonly #value: string;
  readonly #shown: string;

  static {
    // For `console.log` and `util.inspect`; `inspect.custom` cannot be named in a declaration.
    Object.defineProperty(Secret.prototype, Symbol.for('nodejs.util.inspect.custom'), {
      value(this: Secret): string {
        return `Secret(${this.#shown})`;
      },
    });
  }

  /** `shown` is printed instead of the value; default `***`. */
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
