import { LIMITS } from '../domain/limits.ts';

/** An error as it is stored: plain data, never rebuilt into a class. */
export interface TaskError {
  /** Its class, as `TypeError`; cut at 100 characters. */
  readonly name: string;
  /** Cut at 2,000 characters. */
  readonly message: string;
  /** Cut so that all of it fits `LIMITS.errorBytes`; absent when it had none. */
  readonly stack?: string;
}

/** Characters of a message that are kept. */
const MESSAGE_CHARS = 2_000;

/** Characters of a name that are kept. */
const NAME_CHARS = 100;

/** Escapes make JSON longer than its text; six bytes for a control character at worst. */
const STACK_CHARS = LIMITS.errorBytes - 3 * MESSAGE_CHARS;

/** JSON text of whatever a handler threw, at most `LIMITS.errorBytes`. Never throws itself. */
export function errorText(error: unknown): string {
  const facts = factsOf(error);
  const text = JSON.stringify(facts);
  if (Buffer.byteLength(text) <= LIMITS.errorBytes) return text;
  const short = JSON.stringify({ ...facts, stack: cut(facts.stack ?? '', STACK_CHARS / 6) });
  if (Buffer.byteLength(short) <= LIMITS.errorBytes) return short;
  return JSON.stringify({ name: facts.name, message: cut(facts.message, MESSAGE_CHARS) });
}

/** Reads back what {@link errorText} wrote; `undefined` for anything else. */
export function errorOf(text: string | undefined): TaskError | undefined {
  if (text === undefined || text === '') return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? factsOf(value) : undefined;
  } catch {
    return { name: 'Error', message: cut(text, MESSAGE_CHARS) };
  }
}

function factsOf(error: unknown): TaskError {
  if (typeof error !== 'object' || error === null) {
    return { name: 'Error', message: cut(textOf(error), MESSAGE_CHARS) };
  }
  const name = cut(text(error, 'name') ?? 'Error', NAME_CHARS);
  const message = cut(text(error, 'message') ?? '', MESSAGE_CHARS);
  const stack = text(error, 'stack');
  return stack === undefined
    ? { name, message }
    : { name, message, stack: cut(stack, STACK_CHARS) };
}

/** A property that is text. Getters may throw. */
function text(value: object, key: string): string | undefined {
  try {
    const found: unknown = Reflect.get(value, key);
    return typeof found === 'string' ? found : undefined;
  } catch {
    return undefined;
  }
}

function textOf(value: unknown): string {
  try {
    return String(value);
  } catch {
    return 'a value that cannot be shown';
  }
}

/** Cuts between code points, so that no half of a character is left. */
function cut(value: string, chars: number): string {
  if (value.length <= chars) return value;
  const code = value.charCodeAt(chars - 1);
  const end = code >= 0xd800 && code <= 0xdbff ? chars - 1 : chars;
  return `${value.slice(0, end)}…`;
}
