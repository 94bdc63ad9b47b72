/**
 * Objects as records of fields. The casts that the compiler needs are here, each beside the line
 * that makes it true.
 */

/** The same fields without those that may be `undefined`. */
export type Present<T> = { readonly [K in keyof T]?: Exclude<T[K], undefined> };

/** Whether a value has fields: any object but `null`, and no function. */
export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}

/** Whether a value is a plain object: no array, no instance of a class. */
export function isPlainObject(value: unknown): value is Readonly<Record<string, unknown>> {
  if (!isRecord(value)) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

/** A record with a computed value for each key. */
export function recordOf<K extends string, V>(
  keys: readonly K[],
  make: (key: K) => V,
): Record<K, V> {
  return Object.fromEntries(keys.map((key) => [key, make(key)])) as Record<K, V>;
}

/** The keys of a table that is written in the code, and so has no others. */
export function keysIn<K extends string>(table: Readonly<Record<K, unknown>>): readonly K[] {
  return Object.keys(table) as K[];
}

/** Keys and values of such a table. */
export function entriesIn<K extends string, V>(
  table: Readonly<Record<K, V>>,
): readonly (readonly [K, V])[] {
  return keysIn(table).map((key) => [key, table[key]]);
}

/** The same without the fields that are `undefined`. */
export function present<T extends object>(fields: T): Present<T> {
  const known = Object.entries(fields).filter(([, value]) => value !== undefined);
  return Object.fromEntries(known) as Present<T>;
}
