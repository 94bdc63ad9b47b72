/**
 * The strict codec: JSON text that reads back as exactly the given value, or a refusal that names
 * the place. `JSON.stringify` alone changes values silently: a Date becomes a string, NaN becomes
 * null, a Map becomes `{}`.
 *
 * Two harmless exceptions: a property whose value is `undefined` is left out, and −0 is 0.
 * `undefined` by itself is the empty text, which is no JSON value.
 */
export type Encoded =
  | { readonly ok: true; readonly text: string; readonly bytes: number }
  | { readonly ok: false; readonly path: string; readonly problem: string };

/** Deeper nesting is refused: readers of the text recurse, and would exhaust the stack. */
const MAX_DEPTH = 1_000;

/** A lone surrogate has no UTF-8 form. */
const LONE_SURROGATE = /\p{Surrogate}/u;

/** What stands otherwise in JSON text than by itself, and surrogates, which may be lone. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what JSON escapes.
const SPECIAL = /["\\\u0000-\u001f\ud800-\udfff]/;

/** Numbers of a list that are serialized at once. */
const RUN = 1_000;

/** Steps of a path that are shown, from the root. */
const PATH_STEPS = 16;

/** Serializes any value to JSON text of at most `maxBytes`. Never throws. */
export function encodeJson(value: unknown, maxBytes: number): Encoded {
  if (value === undefined) return { ok: true, text: '', bytes: 0 };
  try {
    return encode(value, maxBytes);
  } catch (error) {
    // A getter or a proxy of the caller threw.
    return { ok: false, path: '$', problem: `cannot be read (${reason(error)})` };
  }
}

/** Parses the text of {@link encodeJson}. Throws `SyntaxError` on any other. */
export function decodeJson(text: string): unknown {
  return text === '' ? undefined : JSON.parse(text);
}

function encode(value: unknown, maxBytes: number): Encoded {
  const writer = new Writer(maxBytes);
  const text = writer.write(value, 0);
  if (text === undefined) return { ok: false, path: writer.path(), problem: writer.problem };
  // Counting also flattens the string. It is built from pieces, which would take more memory.
  const bytes = utf8Bytes(text);
  if (bytes > maxBytes) return { ok: false, path: '$', problem: tooLong(maxBytes) };
  return { ok: true, text, bytes };
}

/**
 * Serializes a value in one walk that stops at the first place that JSON would change, and as soon
 * as the text is too long. Every property is read once, so that a getter cannot return an unchecked
 * value at a second read.
 */
class Writer {
  readonly #most: number;
  /** Bytes left for the text, at the least size of each character. */
  #left: number;
  /** Keys from the root to the place of the problem, innermost first; filled on the way back. */
  #trail: (string | number)[] | undefined = undefined;
  #isFull = false;
  problem = '';

  constructor(maxBytes: number) {
    this.#most = maxBytes;
    this.#left = maxBytes;
  }

  /** The text, or `undefined` when there is a problem. */
  write(value: unknown, depth: number): string | undefined {
    switch (typeof value) {
      case 'string':
        return this.#string(value, 'holds a lone surrogate');
      case 'number':
        if (!Number.isFinite(value)) return this.#refuse(`${value} is no JSON number`);
        return this.#take(String(value));
      case 'boolean':
        return this.#take(value ? 'true' : 'false');
      case 'object':
        return value === null ? this.#take('null') : this.#object(value, depth);
      case 'undefined':
        return this.#refuse('undefined in an array would become null');
      case 'bigint':
      case 'symbol':
      case 'function':
        return this.#refuse(`a ${typeof value} has no JSON form`);
    }
  }

  path(): string {
    const trail = this.#trail ?? [];
    const shown = trail.slice(-PATH_STEPS);
    const rest = shown.length < trail.length ? '…' : '';
    return shown.reduceRight<string>((path, key) => path + step(key), '$') + rest;
  }

  #object(value: object, depth: number): string | undefined {
    if (depth >= MAX_DEPTH) return this.#refuse(`is a cycle, or nested deeper than ${MAX_DEPTH}`);
    const isArray = Array.isArray(value);
    if (!isArray && !isLiteral(value)) return this.#foreign(value);
    const toJson: unknown = Reflect.get(value, 'toJSON');
    if (typeof toJson === 'function') {
      return isArray ? this.#refuse('an array with toJSON') : this.#foreign(value);
    }
    if (isArray) return this.#array(value, depth);
    const keys = Object.keys(value);
    if (keys.length > this.#left) return this.#full();
    let text = '';
    let comma = '{';
    for (const key of keys) {
      const member: unknown = key === 'toJSON' ? toJson : Reflect.get(value, key);
      if (member === undefined) continue;
      const name = this.#string(key, 'the key holds a lone surrogate');
      if (name === undefined) return this.#at(key);
      const part = this.write(member, depth + 1);
      if (part === undefined) return this.#at(key);
      text += `${comma}${name}:${part}`;
      comma = ',';
      // A colon, and a comma or a brace.
      this.#left -= 2;
    }
    return comma === '{' ? this.#take('{}') : `${text}}`;
  }

  #array(values: readonly unknown[], depth: number): string | undefined {
    const { length } = values;
    if (length > this.#left) return this.#full();
    if (length === 0) return this.#take('[]');
    let text = '';
    let comma = '[';
    let numbers: number[] = [];
    for (let at = 0; at < length; at++) {
      const item: unknown = values[at];
      // `JSON.stringify` serializes runs of numbers in half the time.
      if (typeof item === 'number' && Number.isFinite(item) && numbers.length < RUN) {
        numbers.push(item);
        continue;
      }
      if (numbers.length > 0) {
        const run = this.#numbers(numbers);
        if (run === undefined) return undefined;
        text += `${comma}${run}`;
        comma = ',';
        numbers = [];
      }
      const part = this.write(item, depth + 1);
      if (part === undefined) return this.#at(at);
      text += `${comma}${part}`;
      comma = ',';
      this.#left -= 1;
    }
    if (numbers.length === 0) return `${text}]`;
    const run = this.#numbers(numbers);
    return run === undefined ? undefined : `${text}${comma}${run}]`;
  }

  #numbers(values: readonly number[]): string | undefined {
    const text = JSON.stringify(values);
    return this.#take(text.slice(1, -1));
  }

  #string(value: string, problem: string): string | undefined {
    if (value.length > this.#left) return this.#full();
    if (!SPECIAL.test(value)) return this.#take(`"${value}"`);
    if (LONE_SURROGATE.test(value)) return this.#refuse(problem);
    return this.#take(JSON.stringify(value));
  }

  #take(text: string): string | undefined {
    this.#left -= text.length;
    return this.#left < 0 ? this.#full() : text;
  }

  #foreign(value: object): undefined {
    return this.#refuse(`${className(value)} would not come back as one`);
  }

  #full(): undefined {
    this.#isFull = true;
    return this.#refuse(tooLong(this.#most));
  }

  #refuse(problem: string): undefined {
    this.problem = problem;
    return undefined;
  }

  #at(key: string | number): undefined {
    // A value that is too long is reported as a whole.
    if (this.#isFull) return undefined;
    this.#trail ??= [];
    this.#trail.push(key);
    return undefined;
  }
}

/** The problem of a JSON text that is too long. */
export function tooLong(maxBytes: number): string {
  return `is more than ${maxBytes} bytes of JSON`;
}

/** An object literal of this realm or another, or an object without a prototype. */
function isLiteral(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype === null || prototype === Object.prototype) return true;
  return Object.getPrototypeOf(prototype) === null;
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
