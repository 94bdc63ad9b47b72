/** What a secret is shown as. */
export const MASK = '***';

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

/** A URL without its password; a text that is no URL is not shown at all. */
export function maskedUrl(text: string): string {
  if (text.startsWith('/') && !text.includes('?')) return text;
  // Without slashes anything with a colon would be one: a password, too.
  if (!/^[a-z]+:\/\//i.test(text) || !URL.canParse(text)) return MASK;
  const url = new URL(text);
  if (url.password !== '') url.password = MASK;
  for (const name of url.searchParams.keys()) {
    // The client takes any of its options from here, and some of them are secrets.
    if (/pass|secret|token|key/i.test(name)) url.searchParams.set(name, MASK);
  }
  return url.href;
}
