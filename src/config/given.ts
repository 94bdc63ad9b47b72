/** Values of one source of configuration, as a tree with the origin of each. */
import { isPlainObject } from '../base/records.ts';

/** Origin of a value. */
export type ConfigOrigin =
  | { readonly from: 'default' }
  | {
      readonly from: 'file';
      /** Name of the file as given. */
      readonly file: string;
      /** Line, from 1. */
      readonly line: number;
      /** Column, from 1. */
      readonly column: number;
    }
  | {
      readonly from: 'environment';
      /** Name of the variable. */
      readonly variable: string;
    }
  | {
      readonly from: 'code';
      /** The flag of the command line. */
      readonly flag?: string | undefined;
    };

/** One value, list or mapping of one source. */
export type Given = GivenValue | GivenList | GivenMap;

/** A value that is no list and no map. */
export interface GivenValue {
  readonly kind: 'value';
  readonly value: unknown;
  readonly origin: ConfigOrigin;
  /** A text for a value of any type: a variable, or a text with variables. */
  readonly isText?: boolean;
  /** The text before variables were replaced, which may be secrets. */
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

/** A value of a map, and the origin of its key for errors about it. */
export interface GivenEntry {
  /** Origin of the key. */
  readonly key: ConfigOrigin;
  readonly given: Given;
}

/** Replaces a value that was refused during parsing, so that the rest can be checked. */
export const REFUSED: Given = { kind: 'value', value: undefined, origin: { from: 'default' } };

/** Whether a part of it was refused during parsing. */
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

/** A tree of plain values; `originOf` answers the origin of each path. */
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

/** The values of the tree without origins. */
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

/** Text of an origin: `fairloom.yaml:3:12`, `FAIRLOOM_REDIS_URL`, `--redis`, `code`, `default`. */
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
