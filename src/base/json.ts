/**
 * The strict codec at the border: JSON text that reads back as exactly what was given, or a
 * refusal that names the place. `JSON.stringify` alone changes values without a word: a Date
 * becomes a string, NaN becomes null, a Map becomes `{}`.
 *
 * Two liberties, both harmless: a property whose value is `undefined` is left out, and −0 is 0.
 * `undefined` by itself is the empty text, which no JSON value is.
 */
export type Encoded =
  | { readonly ok: true; readonly text: string; readonly bytes: number }
  | { readonly ok: false; readonly path: string; readonly problem: string };

/** Deeper nesting is refused: `JSON.stringify` recurses, and would exhaust the stack. */
const MAX_DEPTH = 1_000;

/** A lone surrogate has no UTF-8 form. */
const LONE_SURROGATE = /\p{Surrogate}/u;

/** Steps of a path that are shown, from the root. */
const PATH_STEPS = 16;

/** Turns a value into JSON text of at most `maxBytes`. Never throws, whatever it is given. */
export function encodeJson(value: unknown, maxBytes: number): Encoded {
  if (value === undefined) return { ok: true, text: '', bytes: 0 };
  try {
    return encode(value, maxBytes);
  } catch (error) {
    // A getter or a proxy of the caller that throws.
    return { ok: false, path: '$', problem: `cannot be read (${reason(error)})` };
  }
}

/** Reads back what {@link encodeJson} wrote. Throws `SyntaxError` on anything else. */
export function decodeJson(text: string): unknown {
  return text === '' ? undefined : JSON.parse(text);
}

function encode(value: unknown, maxBytes: number): Encoded {
  const walk = new Walk(maxBytes);
  const problem = walk.check(value, 0);
  if (problem !== undefined) return { ok: false, path: walk.path(), problem };
  const text = JSON.stringify(value);
  // Counting also makes it one piece. It is written in several, which would take more room.
  const bytes = utf8Bytes(text);
  if (bytes > maxBytes) {
    return { ok: false, path: '$', problem: `is ${bytes} bytes of JSON, at most ${maxBytes}` };
  }
  return { ok: true, text, bytes };
}

/** One look at a value before it is written; finds the first place that JSON would change. */
class Walk {
  /** Every value takes a byte of text, so a shared reference cannot blow the text up unseen. */
  #left: number;
  /** Keys from the root to the place of the problem, innermost first; filled on the way out. */
  #trail: (string | number)[] | undefined = undefined;

  constructor(maxValues: number) {
    this.#left = maxValues;
  }

  check(value: unknown, depth: number): string | undefined {
    switch (typeof value) {
      case 'string':
        return LONE_SURROGATE.test(value) ? 'holds a lone surrogate' : undefined;
      case 'number':
        return Number.isFinite(value) ? undefined : `${value} is no JSON number`;
      case 'boolean':
        return undefined;
      case 'object':
        return value === null ? undefined : this.#object(value, depth);
      case 'undefined':
        return 'undefined in an array would become null';
      case 'bigint':
      case 'symbol':
      case 'function':
        return `a ${typeof value} has no JSON form`;
    }
  }

  path(): string {
    const trail = this.#trail ?? [];
    const shown = trail.slice(-PATH_STEPS);
    const rest = shown.length < trail.length ? '…' : '';
    return shown.reduceRight<string>((path, key) => path + step(key), '$') + rest;
  }

  #object(value: object, depth: number): string | undefined {
    this.#left -= 1;
    if (this.#left < 0) return 'holds more values than its text may have bytes';
    if (depth >= MAX_DEPTH) return `is a cycle, or nested deeper than ${MAX_DEPTH}`;
    if (Array.isArray(value)) return this.#array(value, depth);
    if (!isPlain(value)) return `${className(value)} would not come back as one`;
    for (const key of Object.keys(value)) {
      const member: unknown = Reflect.get(value, key);
      if (member === undefined) continue;
      const problem = LONE_SURROGATE.test(key)
        ? 'the key holds a lone surrogate'
        : this.check(member, depth + 1);
      if (problem !== undefined) return this.#at(key, problem);
    }
    return undefined;
  }

  #array(values: readonly unknown[], depth: number): string | undefined {
    if (typeof Reflect.get(values, 'toJSON') === 'function') return 'an array with toJSON';
    for (let at = 0; at < values.length; at++) {
      this.#left -= 1;
      if (this.#left < 0) return 'holds more values than its text may have bytes';
      const problem = this.check(values[at], depth + 1);
      if (problem !== undefined) return this.#at(at, problem);
    }
    return undefined;
  }

  #at(key: string | number, problem: string): string {
    this.#trail ??= [];
    this.#trail.push(key);
    return problem;
  }
}

/** A literal object of this realm or another, or one without a prototype. */
function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== null && prototype !== Object.prototype) {
    if (Object.getPrototypeOf(prototype) !== null) return false;
  }
  return typeof Reflect.get(value, 'toJSON') !== 'function';
}

function className(value: object): string {
  const name: unknown = value.constructor?.name;
  return typeof name === 'string' && name !== '' && name !== 'Object'
    ? `an instance of ${name}`
    : 'an object with toJSON or a class';
}

function step(key: string | number): string {
  if (typeof key === 'number') return `[${key}]`;
  return /^[A-Za-z_$][\w$]*$/.test(key) ? `.${key}` : `[${JSON.stringify(key)}]`;
}

function reason(error: unknown): string {
  return error instanceof Error ? error.message : 'it threw';
}

/** Length of a text in UTF-8. */
export function utf8Bytes(text: string): number {
  return Buffer.byteLength(text);
}
