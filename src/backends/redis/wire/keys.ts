/** The names of keys, as src/backends/redis/layout/ has them; the scripts are given the same. */
import { InvalidOptionError } from '../../../domain/errors/errors.ts';
import { shown } from '../../../domain/errors/fairloom-error.ts';
import { isName } from '../../../domain/fairness/names.ts';
import { LIMITS } from '../../../domain/limits.ts';
import { KEYS, partsOfName, USUAL_LEVEL, USUAL_QUEUE } from '../layout/keys.ts';

/** What begins every key unless another prefix is asked for. */
export const DEFAULT_PREFIX = 'fq';

/**
 * A name, or a name in braces, which is a hash tag on Cluster. A `:` is not for names: it parts the
 * prefix from what stands behind it, so that no key of one prefix can be one of another.
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
  // The near name is made of the value, which may be secret where only what is expected is shown.
  const message = `prefix: expected ${expected}${hint}, got ${shown(prefix)}`;
  throw new InvalidOptionError('prefix', expected, prefix, message);
}

/** The name that is nearest to a text. */
function nearName(text: string): string {
  const name = text.replaceAll(/[^A-Za-z0-9._-]+/g, '.').replace(/^[^A-Za-z0-9]+/, '');
  return name.slice(0, LIMITS.nameLength).replace(/\.+$/, '');
}

type Family = keyof typeof KEYS;

/** What a name is made for: `[]` for `{p}tasks`, `[queue, user, key]` for `{p}key:{queue}:{user, key}`. */
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

/** Makes the names of one family. */
type KeyMaker<Name extends string> =
  Parameters<Name> extends [] ? string : (...texts: Parameters<Name>) => string;

/** A text for each family of one key, a function for each other. */
export type Keys = { readonly [F in Family]: KeyMaker<(typeof KEYS)[F]['name']> } & {
  /** Begins every key. */
  readonly base: string;
};

/** The keys of a namespace; src/backends/redis/layout/ says what they are. */
export function keysOf(prefix: string): Keys {
  const base = `${prefix}:`;
  const made = Object.entries(KEYS).map(([family, { name }]) => [family, keyMaker(base, name)]);
  // Each family has what its name asks for.
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

/** What a name of a line says of its level: nothing of the one that most tasks have. */
export function levelPart(level: number): string {
  return level === USUAL_LEVEL ? '' : String(level);
}

/** Two free strings as one: `<bytes of the first>:<first><second>`. */
function pair(first: string, second: string): string {
  return `${Buffer.byteLength(first)}:${first}${second}`;
}

function queueOf(base: string, queue: string): string {
  return queue === USUAL_QUEUE ? base : `${base}queue:${queue}:`;
}
