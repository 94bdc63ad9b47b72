import { cut } from '../base/as-data.ts';
import { utf8Bytes } from '../base/json.ts';
import { isRecord } from '../base/records.ts';
import { MESSAGE_CHARS, steeringOf, type TaskError, thrownOf } from '../base/thrown.ts';
import { LIMITS } from '../domain/limits.ts';
import { isSealed, readableWords } from '../domain/task/sealed-text.ts';

export type { TaskError };

/**
 * Stored text of any thrown value, at most `LIMITS.errorBytes`. Never throws. All errors are stored
 * with it and read with {@link errorOf}.
 */
export function errorText(error: unknown): string {
  const facts = thrownOf(error);
  for (const { stackChars, behindChars } of FITS) {
    const text = JSON.stringify(fitted(facts, stackChars, behindChars));
    if (utf8Bytes(text) <= LIMITS.errorBytes) return text;
  }
  const { stack: _stack, cause: _cause, errors: _errors, ...bare } = facts;
  return JSON.stringify(bare);
}

/** Parses the text of {@link errorText}; `undefined` without one. */
export function errorOf(text: string | undefined): TaskError | undefined {
  if (text === undefined || text === '') return undefined;
  if (isSealed(text)) return { name: 'Error', message: readableWords(text) };
  try {
    const value: unknown = JSON.parse(text);
    return isRecord(value) ? stored(value) : undefined;
  } catch {
    return { name: 'Error', message: cut(text, MESSAGE_CHARS) };
  }
}

/** Sizes to try, the largest first: of its stack, and of each cause (message and stack each). */
const FITS: readonly { readonly stackChars: number; readonly behindChars: number }[] = [
  { stackChars: LIMITS.errorBytes, behindChars: LIMITS.errorBytes },
  { stackChars: LIMITS.errorBytes / 2, behindChars: 1_000 },
  { stackChars: LIMITS.errorBytes / 4, behindChars: 300 },
  { stackChars: LIMITS.errorBytes / 16, behindChars: 100 },
];

function fitted(facts: TaskError, stackChars: number, behindChars: number): TaskError {
  const { cause, errors, stack } = facts;
  const behind = (one: TaskError): TaskError => ({
    ...fitted(one, behindChars, behindChars),
    message: cut(one.message, behindChars),
  });
  return {
    ...facts,
    ...(stack === undefined ? {} : { stack: cut(stack, stackChars) }),
    ...(cause === undefined ? {} : { cause: behind(cause) }),
    ...(errors === undefined ? {} : { errors: errors.map(behind) }),
  };
}

/** An error in data that another program may have written: reads any value. */
export function errorIn(data: unknown): TaskError {
  return isRecord(data) ? stored(data) : thrownOf(data);
}

function stored(value: Readonly<Record<string, unknown>>, depth = 0): TaskError {
  const { name, message, code, stack, cause, errors, own } = value;
  const below = (one: unknown): one is Readonly<Record<string, unknown>> =>
    isRecord(one) && depth < MAX_DEPTH;
  const behind = Array.isArray(errors) ? errors.filter(below) : [];
  return {
    name: typeof name === 'string' ? name : 'Error',
    message: typeof message === 'string' ? message : '',
    ...(typeof code === 'string' || typeof code === 'number' ? { code } : {}),
    ...(typeof stack === 'string' ? { stack } : {}),
    ...(below(cause) ? { cause: stored(cause, depth + 1) } : {}),
    ...(behind.length > 0 ? { errors: behind.map((one) => stored(one, depth + 1)) } : {}),
    ...steeringOf(value, own === true),
  };
}

/** Most causes of each other that are read. */
const MAX_DEPTH = 10;
