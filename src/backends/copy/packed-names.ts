/** Tables that scripts pack under short names, read and written under long ones. */

import { isRecord } from '../../base/records.ts';
import { PACKED_NAMES } from '../redis/layout/fields.ts';
import { type Packable, packed, unpacked } from './msgpack.ts';

type Tables = typeof PACKED_NAMES;

/** The fields of a table, none of which need be there. */
export type Named<T extends keyof Tables, V> = { readonly [N in keyof Tables[T]]?: V };

/** Names a table's fields by their short names, as scripts keep it. */
export function shortNamed<T extends keyof Tables>(
  table: T,
  fields: Named<T, Packable | undefined>,
): { readonly [name: string]: Packable | undefined } {
  const values = new Map<string, Packable | undefined>(Object.entries(fields));
  const names = Object.entries<readonly [string, string]>(PACKED_NAMES[table]);
  return Object.fromEntries(names.map(([long, [short]]) => [short, values.get(long)]));
}

/** Packs a table. */
export function packedTable<T extends keyof Tables>(
  table: T,
  fields: Named<T, Packable | undefined>,
): Buffer {
  return packed(shortNamed(table, fields));
}

/** The fields of a table that a script has written. */
export function longNamed<T extends keyof Tables>(table: T, value: unknown): Fields<T> {
  const raw = isRecord(value) ? value : {};
  const names = Object.entries<readonly [string, string]>(PACKED_NAMES[table]);
  return new Fields(new Map(names.map(([long, [short]]) => [long, raw[short]])));
}

/** The same of bytes. */
export function tableIn<T extends keyof Tables>(table: T, bytes: Buffer): Fields<T> {
  return longNamed(table, unpacked(bytes));
}

/** Fields by their long names. What is of another kind than asked for is not there. */
export class Fields<T extends keyof Tables> {
  readonly #values: ReadonlyMap<string, unknown>;

  constructor(values: ReadonlyMap<string, unknown>) {
    this.#values = values;
  }

  text(name: keyof Tables[T] & string): string | undefined {
    const value = this.#values.get(name);
    return typeof value === 'string' ? value : undefined;
  }

  number(name: keyof Tables[T] & string): number | undefined {
    const value = this.#values.get(name);
    return typeof value === 'number' ? value : undefined;
  }

  is(name: keyof Tables[T] & string): boolean {
    return this.#values.get(name) === true;
  }

  texts(name: keyof Tables[T] & string): readonly string[] {
    const value = this.#values.get(name);
    if (!Array.isArray(value)) return [];
    return value.filter((one): one is string => typeof one === 'string');
  }

  any(name: keyof Tables[T] & string): unknown {
    return this.#values.get(name);
  }
}
