/** What one source of configuration says: a tree of values, each with the place that it is from. */
import { isPlainObject } from '../base/records.ts';

/** Where a value comes from. */
export type ConfigOrigin =
  | { readonly from: 'default' }
  | {
      readonly from: 'file';
      /** As it was named. */
      readonly file: string;
      /** From 1. */
      readonly line: number;
      /** From 1. */
      readonly column: number;
    }
  | {
      readonly from: 'environment';
      /** Name of the variable. */
      readonly variable: string;
    }
  | {
      readonly from: 'code';
      /** The flag of the command line that said it. */
      readonly flag?: string | undefined;
    };

/** One value, list or mapping of one source. */
export type Given = GivenValue | GivenList | GivenMap;

/** Anything that is no list and no map. */
export interface GivenValue {
  readonly kind: 'value';
  readonly value: unknown;
  readonly origin: ConfigOrigin;
  /** It is a text that stands for a value of any type: a variable, or a text with variables. */
  readonly isText?: boolean;
  /** As it was written, when variables were put into it: they may be secrets. */
  readonly written?: string;
}

/** Values in their order. */
export interface GivenList {
  readonly kind: 'list';
  readonly items: readonly Given[];
  readonly origin: ConfigOrigin;
}

/** Values by key. */
export interface GivenMap {
  readonly kind: 'map';
  readonly entries: ReadonlyMap<string, GivenEntry>;
  readonly origin: ConfigOrigin;
}

/** A value of a map and the place of its key, which may be what is wrong. */
export interface GivenEntry {
  /** Where the key stands. */
  readonly key: ConfigOrigin;
  readonly given: Given;
}

/** In place of what was refused while it was read, so that the rest can be checked. */
export const REFUSED: Given = { kind: 'value', value: undefined, origin: { from: 'default' } };

/** Whether a part of it was refused while it was read. */
export function isRefused(given: Given): boolean {
  switch (given.kind) {
    case 'value':
      return given === REFUSED;
    case 'list':
      return given.items.some(isRefused);
    case 'map':
      return [...given.entries.values()].some((entry) => isRefused(entry.given));
  }
}

/** A tree of plain values, all from places that `originOf` knows by their path. */
export function givenOf(
  value: unknown,
  originOf: (path: string) => ConfigOrigin,
  path = '',
): Given {
  const origin = originOf(path);
  const below = (key: string): string => (path === '' ? key : `${path}.${key}`);
  if (Array.isArray(value)) {
    const items = value.map((item, at) => givenOf(item, originOf, `${path}[${at}]`));
    return { kind: 'list', items, origin };
  }
  if (!isPlainObject(value)) return { kind: 'value', value, origin };
  const entries = Object.entries(value)
    .filter(([, item]) => item !== undefined)
    .map(([key, item]): [string, GivenEntry] => [
      key,
      { key: originOf(below(key)), given: givenOf(item, originOf, below(key)) },
    ]);
  return { kind: 'map', entries: new Map(entries), origin };
}

/** The tree without its places. */
export function valueIn(given: Given): unknown {
  switch (given.kind) {
    case 'value':
      return given.value;
    case 'list':
      return given.items.map(valueIn);
    case 'map':
      return Object.fromEntries(
        [...given.entries].map(([key, entry]) => [key, valueIn(entry.given)]),
      );
  }
}

/** The place in words: `fairloom.yaml:3:12`, `FAIRLOOM_REDIS_URL`, `--redis`, `code`, `default`. */
export function originText(origin: ConfigOrigin): string {
  switch (origin.from) {
    case 'file':
      return `${origin.file}:${origin.line}:${origin.column}`;
    case 'environment':
      return origin.variable;
    case 'code':
      return origin.flag ?? 'code';
    case 'default':
      return 'default';
  }
}
