/** Names of keys, from src/backends/redis/layout/; the scripts get the same. */
import { InvalidOptionError } from '../../../domain/errors/errors.ts';
import { shown } from '../../../domain/errors/fairloom-error.ts';
import { isName } from '../../../domain/fairness/names.ts';
import { LIMITS } from '../../../domain/limits.ts';
import { KEYS, partsOfName, USUAL_LEVEL, USUAL_QUEUE } from '../layout/keys.ts';

/** The default prefix. */
export const DEFAULT_PREFIX = 'fq';

/**
 * A prefix is a name, or a name in braces, which is a hash tag on Cluster. Not `:`, which separates
 * the prefix from the rest, so that keys of different prefixes differ.
 */
export function checkPrefix(prefix: unknown): void {
  const text = typeof prefix === 'string' ? prefix : '';
  const [, tag] = /^\{(.*)\}$/s.exec(text) ?? [];
  if (isName(tag ?? text)) return;
  const near = nearName(tag ?? text);
  const hint = near === '' ? '' : `, as "${tag === undefined ? near : `{${near}}`}"`;
  const rule = `letters, digits, ".", "_" and "-", at most ${LIMITS.nameLength}, or that in braces`;
  const why = '":" parts the prefix from the rest of a key';
  const expected = `a name of ${rule} (${why})`;
  // The suggestion is derived from the value, so it is omitted where the value is secret.
  const message = `prefix: expected ${expected}${hint}, got ${shown(prefix)}`;
  throw new InvalidOptionError('prefix', expected, prefix, message);
}

/** The valid name most similar to a text. */
function nearName(text: string): string {
  const name = text.replaceAll(/[^A-Za-z0-9._-]+/g, '.').replace(/^[^A-Za-z0-9]+/, '');
  return name.slice(0, LIMITS.nameLength).replace(/\.+$/, '');
}

type Family = keyof typeof KEYS;

/** Parameters of a name: `[]` for `{p}tasks`, `[queue, user, key]` for `{p}key:{queue}:{user, key}`. */
type Parameters<Name extends string> = Name extends `{queue}${infer Rest}`
  ? [queue: string, ...Free<Rest>]
  : Name extends `{p}${infer Rest}`
    ? Free<Rest>
    : never;

type Free<Rest extends string> = Rest extends `${string}{${infer Names}}${infer More}`
  ? [...Each<Names>, ...Free<More>]
  : [];

type Each<Names extends string> = Names extends `${string}, ${infer Others}`
  ? [text: string, ...Each<Others>]
  : [text: string];

/** Builds the names of one family. */
type KeyMaker<Name extends string> =
  Parameters<Name> extends [] ? string : (...texts: Parameters<Name>) => string;

/** A text for each family of one key, a function for each other. */
export type Keys = { readonly [F in Family]: KeyMaker<(typeof KEYS)[F]['name']> } & {
  /** Prefix of every key. */
  readonly base: string;
};

/** Keys of a namespace; see src/backends/redis/layout/. */
export function keysOf(prefix: string): Keys {
  const base = `${prefix}:`;
  const made = Object.entries(KEYS).map(([family, { name }]) => [family, keyMaker(base, name)]);
  // The type of each family follows from its name.
  return { base, ...Object.fromEntries(made) } as Keys;
}

function keyMaker(base: string, name: string): string | ((...texts: string[]) => string) {
  const { start, parts } = partsOfName(name);
  const make = (...texts: string[]): string => {
    const left = [...texts];
    const from = start === 'queue' ? queueOf(base, left.shift() ?? '') : base;
    const pieces = parts.map((part) => {
      if (typeof part === 'string') return part;
      const [first = '', second] = left.splice(0, part.length);
      return second === undefined ? first : pair(first, second);
    });
    return `${from}${pieces.join('')}`;
  };
  return start === 'p' && parts.every((part) => typeof part === 'string') ? make() : make;
}

/** Part of a line's name for its level: empty for the most frequent one. */
export function levelPart(level: number): string {
  return level === USUAL_LEVEL ? '' : String(level);
}

/** Joins two free strings: `<bytes of the first>:<first><second>`. */
function pair(first: string, second: string): string {
  return `${Buffer.byteLength(first)}:${first}${second}`;
}

function queueOf(base: string, queue: string): string {
  return queue === USUAL_QUEUE ? base : `${base}queue:${queue}:`;
}
