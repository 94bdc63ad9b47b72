/** Thrown values as data: one conversion for records, threads, processes, logs and spans. */

import { asData, cut, isError, read, textOf, UNREADABLE } from './as-data.ts';
import { isOwnError, OWN_ERROR } from './own-error.ts';

/** A stored error: plain data. With its causes it fits `LIMITS.errorBytes`. */
export interface TaskError {
  /** Its class, as `TypeError`; `Error` for a value that is no error. Cut at 100 characters. */
  readonly name: string;
  /** Cut at 2,000 characters; a value that is no error as text or JSON. */
  readonly message: string;
  /** Code of the system, of a library, or of Fairloom if `own` is true. */
  readonly code?: string | number;
  /** Cut so that the whole error fits; absent without one. */
  readonly stack?: string;
  /** The `cause` of an error; up to 8 levels. */
  readonly cause?: TaskError;
  /** The `errors` of an `AggregateError`; the first 10. */
  readonly errors?: readonly TaskError[];
  /** An error of Fairloom: `code` is a row of `docs/errors.md`. */
  readonly own?: true;
  /** Errors of Fairloom: whether a retry may help. */
  readonly retryable?: boolean;
  /** `RetryAfter`, and groups with members that threw one: the delay, in ms. */
  readonly delayMs?: number;
  /** With `delayMs`: whether it uses up one of the retries. */
  readonly countAttempt?: boolean;
  /** Groups: no retry helps, as their members reported. */
  readonly isFinal?: true;
}

/** Fields of Fairloom's own errors that control the next attempt. */
type Steering = Pick<TaskError, 'own' | 'retryable' | 'delayMs' | 'countAttempt' | 'isFinal'>;

/** Fields of an error, or of its data, that control the next attempt; none unless it is Fairloom's own. */
export function steeringOf(value: object, isOwn: boolean): Steering {
  if (!isOwn) return {};
  const delayMs = read(value, 'delayMs');
  const wait =
    typeof delayMs === 'number' && Number.isFinite(delayMs)
      ? { delayMs, countAttempt: read(value, 'countAttempt') !== false }
      : {};
  const end = read(value, 'isFinal') === true ? ({ isFinal: true } as const) : {};
  return { own: true, retryable: read(value, 'retryable') === true, ...wait, ...end };
}

/** Most characters of a message. */
export const MESSAGE_CHARS = 2_000;

/** Most characters of a name or code. */
const NAME_CHARS = 100;

/** Most characters of a stack that are read. */
const STACK_CHARS = 16_000;

/** Most levels of causes. */
const DEPTH = 8;

/** Most errors of a collection. */
const WIDTH = 10;

/** Most errors in total. */
const NODES = 30;

/** Most characters of a displayed line. */
const LINE_CHARS = 500;

/** The error of any thrown value. Never throws, and ends even if errors refer to each other. */
export function thrownOf(value: unknown): TaskError {
  return new Reading().of(value, DEPTH) ?? { name: 'Error', message: UNREADABLE };
}

/**
 * Text for people: its message and its causes on one line, as `fetch failed: connect ECONNREFUSED
 * 127.0.0.1:9`.
 */
export function textOfError({ message, ...facts }: TaskError): string {
  return withBehind(message.trimEnd(), facts);
}

/** The same, cut to one line. */
export function lineOf({ message, ...facts }: TaskError): string {
  return cut(withBehind(firstLine(message), facts), LINE_CHARS);
}

/** That line with the class name before it. */
export function namedLineOf(error: TaskError): string {
  const line = lineOf(error);
  return line === error.name ? line : `${error.name}: ${line}`;
}

function withBehind(
  own: string,
  { name, code, cause, errors = [] }: Omit<TaskError, 'message'>,
): string {
  const behind = cause === undefined ? errors.map(lineOf).join('; ') : lineOf(cause);
  // Many messages contain that of their cause.
  if (behind === '' || own.includes(behind)) return own === '' ? String(code ?? name) : own;
  return own === '' ? behind : `${own}: ${behind}`;
}

function firstLine(text: string): string {
  return (
    text
      .trimStart()
      .split(/[\r\n]/, 1)[0]
      ?.trimEnd() ?? ''
  );
}

/** An error from its data, with all causes; `stack` is the stored one. */
export function errorFrom(facts: TaskError): Error {
  const { name, message, code, stack, cause, errors, own, ...steering } = facts;
  const options = cause === undefined ? undefined : { cause: errorFrom(cause) };
  const error =
    errors === undefined
      ? new Error(message, options)
      : new AggregateError(errors.map(errorFrom), message, options);
  const define = (key: string | symbol, value: unknown, enumerable: boolean): void => {
    Object.defineProperty(error, key, { value, enumerable, writable: true, configurable: true });
  };
  define('name', name, false);
  define('stack', stack, false);
  if (code !== undefined) define('code', code, true);
  if (own === true) {
    define(OWN_ERROR, true, false);
    for (const [key, value] of Object.entries({ retryable: false, ...steering })) {
      define(key, value, false);
    }
  }
  return error;
}

/** An error that is only displayed and stored: no code depends on its class. */
export function errorSaying(message: string, name = 'Error'): Error {
  const error = new Error(message);
  if (name !== error.name) Object.defineProperty(error, 'name', { value: name, writable: true });
  return error;
}

/** One conversion, with the rest of its bounds. */
class Reading {
  #left = NODES;
  readonly #path = new Set<unknown>();

  /** `undefined` for a cycle, and beyond the bounds. */
  of(value: unknown, depth: number): TaskError | undefined {
    if (depth === 0 || this.#left === 0 || this.#path.has(value)) return undefined;
    this.#left--;
    this.#path.add(value);
    try {
      return this.#error(value, depth);
    } catch {
      return { name: 'Error', message: UNREADABLE };
    } finally {
      this.#path.delete(value);
    }
  }

  #error(value: unknown, depth: number): TaskError {
    if (typeof value !== 'object' || value === null) return bare(value);
    const code = codeOf(value);
    const facts = code === undefined ? {} : { code };
    if (!isErrorLike(value)) return { ...bare(value), ...facts };
    const stack = read(value, 'stack');
    const cause = read(value, 'cause');
    const why = cause === undefined || cause === null ? undefined : this.of(cause, depth - 1);
    const errors = this.#errors(value, depth);
    return {
      name: cut(textIn(value, 'name') || 'Error', NAME_CHARS),
      message: cut(textIn(value, 'message'), MESSAGE_CHARS),
      ...facts,
      ...(typeof stack === 'string' && stack !== '' ? { stack: cut(stack, STACK_CHARS) } : {}),
      ...(why === undefined ? {} : { cause: why }),
      ...(errors.length === 0 ? {} : { errors }),
      ...steeringOf(value, isOwnError(value)),
    };
  }

  /** Libraries that validate input have lists of this name too, of objects that are no errors. */
  #errors(value: object, depth: number): readonly TaskError[] {
    const errors = read(value, 'errors');
    if (!Array.isArray(errors)) return [];
    const some = errors.slice(0, WIDTH).filter(isErrorLike);
    return some.map((one) => this.of(one, depth - 1)).filter((one) => one !== undefined);
  }
}

/** An error, or one that was converted to data. */
function isErrorLike(value: unknown): boolean {
  if (isError(value)) return true;
  if (typeof value !== 'object' || value === null) return false;
  return [read(value, 'name'), read(value, 'message')].every((part) => {
    return typeof part === 'string' && part !== UNREADABLE;
  });
}

function bare(value: unknown): TaskError {
  return { name: 'Error', message: cut(shown(value), MESSAGE_CHARS) };
}

function textIn(value: object, key: string): string {
  const found = read(value, key);
  if (typeof found === 'string') return found;
  return found === undefined || found === null ? '' : shown(found);
}

function shown(value: unknown): string {
  if (typeof value === 'string') return value;
  if (typeof value !== 'object' || value === null) return textOf(asData(value));
  const data = asData(value);
  return typeof data === 'string' ? data : (JSON.stringify(data) ?? UNREADABLE);
}

function codeOf(value: object): string | number | undefined {
  const code = read(value, 'code');
  if (typeof code === 'number' && Number.isFinite(code)) return code;
  return typeof code === 'string' && code !== UNREADABLE ? cut(code, NAME_CHARS) : undefined;
}
