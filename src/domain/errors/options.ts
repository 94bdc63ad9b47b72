/**
 * Objects of options. What one may hold is a list next to its type, which the compiler compares with
 * the type; what else is in it is refused, since a misspelled option would change nothing silently.
 */
import { foreignHint } from '../../base/foreign-names.ts';
import { similarTo } from '../../base/similar.ts';
import { InvalidOptionError } from './caller-errors.ts';
import { shown } from './fairloom-error.ts';

/** The keys of a type, those of every member of a union. */
type KeyOf<T> = T extends unknown ? keyof T & string : never;

/** Every key of a type of options. */
export type OptionKeys<T> = { readonly [K in KeyOf<T>]: true };

/** Any such list. */
type Keys = Readonly<Record<string, true>>;

/** An object that holds nothing but what a list names; each field is still to be checked. */
type Given<K extends Keys> = { readonly [X in keyof K]?: unknown };

/**
 * The keys of a type: `keysOf<PageOptions>()({ limit: true, cursor: true })`. A key that is missing,
 * or that the type does not have, does not compile, wherever it was spread from.
 */
export function keysOf<T>(): <const K extends OptionKeys<T>>(
  keys: K & { readonly [X in Exclude<keyof K, KeyOf<T>>]: never },
) => OptionKeys<T> {
  return (keys) => Object.freeze(keys);
}

/**
 * @param where - what was called, as `enqueue` or `task resize`.
 * @throws {@link InvalidOptionError} when it is no object, or holds what the list does not.
 */
export function checkOptions<K extends Keys>(
  where: string,
  options: unknown,
  keys: K,
): asserts options is Given<K> {
  if (!isOptions(options)) throw new InvalidOptionError(`${where}: options`, 'an object', options);
  const unexpected = unexpectedIn(options, keys);
  if (unexpected !== undefined) throw unknownKey(where, unexpected, keys, unexpected);
}

/** The same for an object inside of options; `path` is its own name, as `rate`. */
export function checkPart<K extends Keys>(
  path: string,
  part: unknown,
  keys: K,
): asserts part is Given<K> {
  if (!isOptions(part)) throw new InvalidOptionError(path, 'an object', part);
  const unexpected = unexpectedIn(part, keys);
  if (unexpected !== undefined) throw unknownKey(path, unexpected, keys, `${path}.${unexpected}`);
}

/** Whether a value may hold options: a list or a function is a mistake of the caller. */
function isOptions(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !isArray(value);
}

/** A proxy that was revoked answers nothing, and is no list. */
function isArray(value: object): boolean {
  try {
    return Array.isArray(value);
  } catch {
    return false;
  }
}

/** The first key that the list does not have. A walk with `in` costs no list of keys. */
function unexpectedIn(options: object, keys: Keys): string | undefined {
  try {
    for (const key in options) {
      if (Object.hasOwn(keys, key)) continue;
      // A key that a program has put on `Object.prototype` is no option of the caller.
      if (Object.hasOwn(options, key) || !(key in Object.prototype)) return key;
    }
    return undefined;
  } catch {
    throw new InvalidOptionError('options', 'an object that can be read', options);
  }
}

/** The refusal of a word that is none of a list, as the name of an event. */
export function unknownWord(option: string, word: unknown, known: Keys): InvalidOptionError {
  const { expected, hint } = meantBy(word, known);
  const message = `${option}: there is no ${option} ${shown(word)}; ${hint}`;
  return new InvalidOptionError(option, expected, word, message);
}

function unknownKey(where: string, key: string, known: Keys, path: string): InvalidOptionError {
  const { expected, hint: meant } = meantBy(key, known);
  const hint = foreignHint(key, ['code', 'config']) ?? meant;
  const message = `${where}: there is no option ${shown(key)}; ${hint}`;
  return new InvalidOptionError(path, expected, key, message);
}

/** The word that is near to this one, or all of them. */
function meantBy(word: unknown, known: Keys): { readonly expected: string; readonly hint: string } {
  const words = Object.keys(known);
  const meant = typeof word === 'string' ? similarTo(word, words) : undefined;
  if (meant !== undefined) return { expected: `"${meant}"`, hint: `did you mean "${meant}"?` };
  const all = words.join(', ');
  return { expected: `one of ${all}`, hint: `there are ${all}` };
}
