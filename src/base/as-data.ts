/**
 * Converts any value to data that JSON can show: for log lines, and for thrown values that are no
 * errors. A value that cannot be shown is replaced by a mark, and nothing here ever throws.
 */

/** Most levels of nested values. */
const DEPTH = 6;

/** Most values in total. */
const NODES = 1_000;

/** Most items of a list, and fields of an object. */
const WIDTH = 100;

/** Most characters of a text. */
const TEXT_CHARS = 8_000;

/** Replaces a value that threw when it was read. */
export const UNREADABLE = '[cannot be read]';

/** The data of a value; `undefined` for what JSON leaves out. */
export function asData(value: unknown): unknown {
  return new DataMaker().of(value, DEPTH);
}

/** The same for the fields of a log line: each with its own bounds. */
export function fieldsAsData(fields: unknown): Readonly<Record<string, unknown>> {
  const data: Record<string, unknown> = {};
  for (const [key, value] of fieldsOf(fields)) putField(data, key, asData(value));
  return data;
}

/** Own fields, with a mark in place of those that throw when they are read. */
export function fieldsOf(fields: unknown): readonly (readonly [string, unknown])[] {
  if (fields === undefined || fields === null) return [];
  if (typeof fields !== 'object') return [['value', fields]];
  if (isError(fields)) return [['error', fields]];
  try {
    return Object.keys(fields).map((key) => [key, read(fields, key)]);
  } catch {
    return [['value', UNREADABLE]];
  }
}

/** Any value as text. */
export function textOf(value: unknown): string {
  try {
    return String(value);
  } catch {
    return UNREADABLE;
  }
}

/** Reads a property; an error of its getter is ignored. */
export function read(value: object, key: string | symbol): unknown {
  try {
    return Reflect.get(value, key);
  } catch {
    return UNREADABLE;
  }
}

/** An error of this realm or of another. */
export function isError(value: unknown): value is Error {
  try {
    return value instanceof Error || Object.prototype.toString.call(value) === '[object Error]';
  } catch {
    return false;
  }
}

/** Cuts between code points, so that no character is split. */
export function cut(value: string, chars: number): string {
  if (value.length <= chars) return value;
  const code = value.charCodeAt(chars - 1);
  const end = code >= 0xd800 && code <= 0xdbff ? chars - 1 : chars;
  return `${value.slice(0, end)}…`;
}

/** One conversion of a value. */
class DataMaker {
  #left = NODES;
  /** Enclosing values: a value below itself would have no end. */
  readonly #path = new Set<object>();

  of(value: unknown, depth: number): unknown {
    if (this.#left-- <= 0) return '…';
    switch (typeof value) {
      case 'string':
        return cut(value, TEXT_CHARS);
      case 'number':
        return Number.isFinite(value) ? value : String(value);
      case 'bigint':
        return `${cut(String(value), WIDTH)}n`;
      case 'symbol':
        return String(value);
      case 'function':
        return `[Function ${cut(textOf(read(value, 'name')), WIDTH)}]`;
      case 'object':
        return value === null ? value : this.#object(value, depth);
      default:
        return value;
    }
  }

  #object(value: object, depth: number): unknown {
    if (this.#path.has(value)) return '[Circular]';
    if (depth === 0) return '[…]';
    this.#path.add(value);
    try {
      return this.#content(value, depth);
    } catch {
      return UNREADABLE;
    } finally {
      this.#path.delete(value);
    }
  }

  #content(value: object, depth: number): unknown {
    if (isError(value)) return this.#error(value, depth);
    if (ArrayBuffer.isView(value)) return `[${value.constructor.name} ${value.byteLength} bytes]`;
    if (value instanceof Map || value instanceof Set) return this.#list(value, depth, value.size);
    if (Array.isArray(value)) return this.#list(value, depth, value.length);
    const toJson = read(value, 'toJSON');
    if (typeof toJson === 'function') return this.of(toJson.call(value, ''), depth - 1);
    return this.#fields(value, depth);
  }

  #error(error: Error, depth: number): unknown {
    const head = `${this.#text(error, 'name')}: ${this.#text(error, 'message')}`;
    const cause = read(error, 'cause');
    if (cause === undefined) return head;
    return { error: head, cause: this.of(cause, depth - 1) };
  }

  #text(error: Error, key: string): string {
    return cut(textOf(read(error, key)), TEXT_CHARS);
  }

  #list(values: Iterable<unknown>, depth: number, size: number): readonly unknown[] {
    const list: unknown[] = [];
    for (const value of values) {
      if (list.length === WIDTH || this.#left <= 0) {
        list.push(`… ${size - list.length} more`);
        break;
      }
      list.push(this.of(value, depth - 1));
    }
    return list;
  }

  #fields(value: object, depth: number): unknown {
    const keys = Object.keys(value);
    const data: Record<string, unknown> = {};
    for (const [at, key] of keys.entries()) {
      if (at === WIDTH || this.#left <= 0) {
        putField(data, '…', `${keys.length - at} more`);
        break;
      }
      putField(data, cut(key, WIDTH), this.of(read(value, key), depth - 1));
    }
    return data;
  }
}

/** Sets a field, also under the name of a setter that all objects have. */
export function putField<T>(data: Record<string, T>, key: string, value: T): void {
  if (key !== '__proto__') data[key] = value;
  else Object.defineProperty(data, key, { value, enumerable: true, configurable: true });
}
