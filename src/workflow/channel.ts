/** Channels: values that the nodes of one run share, by name and with a type. */
import { isRecord } from '../base/records.ts';
import { InvalidOptionError } from '../domain/errors/errors.ts';
import { checkOptions, keysOf, type OptionKeys } from '../domain/errors/options.ts';
import { checkName, isName } from '../domain/fairness/names.ts';
import { isSchema, type StandardSchemaV1 } from './standard-schema.ts';

/** Holds the type of the values; never a value. */
declare const valueType: unique symbol;

/** The definition of a channel. Making one does nothing; a run has its values. */
export interface Channel<in out T extends object> {
  /** Tells it from other definitions. */
  readonly type: 'channel';
  /** Two definitions of one name are the same channel. */
  readonly name: string;
  /** Holds the type; never a value. */
  readonly [valueType]: (values: T) => T;
}

/** Options of {@link channel}. */
export interface ChannelOptions<T extends object> {
  /** Schemas by key: `set` and `get` ask them. What `append` and `add` make is checked when it is read. */
  readonly schemas?: { readonly [K in keyof T]?: StandardSchemaV1<unknown, T[K]> } | undefined;
}

const CHANNEL_KEYS: OptionKeys<ChannelOptions<object>> = keysOf<ChannelOptions<object>>()({
  schemas: true,
});

/** Keys of the values of `T`. */
export type ChannelKey<T extends object> = string & keyof T;

/** Keys of `T` whose values are numbers. */
export type NumberKey<T extends object> = {
  [K in ChannelKey<T>]-?: Exclude<T[K], undefined> extends number ? K : never;
}[ChannelKey<T>];

/** Keys of `T` whose values are lists. */
export type ListKey<T extends object> = {
  [K in ChannelKey<T>]-?: Exclude<T[K], undefined> extends readonly unknown[] ? K : never;
}[ChannelKey<T>];

/** What a list holds. */
export type ElementOf<V> = Exclude<V, undefined> extends readonly (infer E)[] ? E : never;

/** What both views of a channel can do. Values are JSON, keys texts of 1–128 bytes. */
export interface ChannelBase<T extends object> {
  /** `undefined` when nothing was written. */
  get<K extends ChannelKey<T>>(key: K): Promise<T[K] | undefined>;
  /**
   * Puts a value in place of the one before.
   *
   * @throws {@link InvalidPayloadError} when JSON would change it, or its schema refuses it.
   */
  set<K extends ChannelKey<T>>(key: K, value: Exclude<T[K], undefined>): Promise<void>;
  /** Takes a value away. */
  delete(key: ChannelKey<T>): Promise<void>;
}

/**
 * A channel in the hands of a handler. Writes are held until the handler has succeeded, and applied
 * with that, once; `get` sees them, and what others have settled. Every write may throw
 * {@link ChannelLimitError}, `append` and `add` {@link ChannelTypeError}.
 */
export interface ChannelOf<T extends object> extends ChannelBase<T> {
  /** Puts an element at the end of a list, which begins empty. */
  append<K extends ListKey<T>>(key: K, element: ElementOf<T[K]>): Promise<void>;
  /** Adds to a number, which begins at 0. */
  add(key: NumberKey<T>, by: number): Promise<void>;
  /** The same, written at once: seen by others while the handler runs, also if it fails. */
  readonly live: LiveChannel<T>;
}

/**
 * A channel whose writes are applied at once, for as long as the handler's lease is in force; else
 * they throw {@link LeaseLostError}. A handler that runs again writes again.
 */
export interface LiveChannel<T extends object> extends ChannelBase<T> {
  /** Puts an element at the end of a list, which begins empty. */
  append<K extends ListKey<T>>(
    key: K,
    element: ElementOf<T[K]>,
    options?: OnceOptions,
  ): Promise<void>;
  /** Adds to a number, which begins at 0. */
  add(key: NumberKey<T>, by: number, options?: OnceOptions): Promise<void>;
}

/** How often a live write counts. */
export interface OnceOptions {
  /**
   * Of all live writes to one key with this name, by whomever, the first counts: name what the write
   * stands for, and a handler that runs again writes it once. A text of 1–128 bytes.
   */
  readonly once?: string | undefined;
}

/** What may stand in {@link OnceOptions}. */
export const ONCE_KEYS: OptionKeys<OnceOptions> = keysOf<OnceOptions>()({ once: true });

/** A channel as the engine reads it. */
export interface ChannelDefinition {
  readonly name: string;
  readonly schemas: ReadonlyMap<string, StandardSchemaV1>;
}

/** What stands behind the definitions that callers hold. */
const DEFINITIONS = new WeakMap<object, ChannelDefinition>();

/**
 * Defines a channel: `channel<{ count: number }>('stats')`.
 *
 * @throws {@link InvalidOptionError} when the name is none, or a schema is none.
 */
export function channel<T extends object>(
  name: string,
  options: ChannelOptions<T> = {},
): Channel<T> {
  checkOptions('channel', options, CHANNEL_KEYS);
  const schemas = new Map<string, StandardSchemaV1>();
  const given: unknown = options.schemas ?? {};
  if (!isRecord(given)) throw new InvalidOptionError('schemas', 'an object', given);
  for (const [key, schema] of Object.entries(given)) {
    if (!isSchema(schema)) {
      throw new InvalidOptionError(`schemas.${key}`, 'a Standard Schema', schema);
    }
    schemas.set(key, schema);
  }
  const definition = { type: 'channel', name: checkName('channel name', name) } as const;
  Object.freeze(definition);
  DEFINITIONS.set(definition, { name, schemas });
  // The type of the values is a promise about JSON, nothing at run time.
  return definition as unknown as Channel<T>;
}

/** @throws {@link InvalidOptionError} when the value is no channel. */
export function channelDefinitionOf(value: unknown): ChannelDefinition {
  const isObject = typeof value === 'object' && value !== null;
  const known = isObject ? DEFINITIONS.get(value) : undefined;
  if (known !== undefined) return known;
  // Made by another copy of the package: its schemas are not known here.
  const name = isObject && Reflect.get(value, 'type') === 'channel' && Reflect.get(value, 'name');
  if (isName(name)) return { name, schemas: new Map() };
  throw new InvalidOptionError('channel', 'a channel, made by channel(name)', value);
}
