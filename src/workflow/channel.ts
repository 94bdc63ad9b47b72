/** Channels: typed values, by name, that the nodes of one run share. */
import { isRecord } from '../base/records.ts';
import { InvalidOptionError } from '../domain/errors/errors.ts';
import { checkOptions, keysOf, type OptionKeys } from '../domain/errors/options.ts';
import { checkName, isName } from '../domain/fairness/names.ts';
import { isSchema, type StandardSchemaV1 } from './standard-schema.ts';

/** Carries the type of the values; absent at run time. */
declare const valueType: unique symbol;

/** The definition of a channel. It holds no values; each run has its own. */
export interface Channel<in out T extends object> {
  /** Type tag. */
  readonly type: 'channel';
  /** Its name. Two definitions with one name are the same channel. */
  readonly name: string;
  /** Carries the type; absent at run time. */
  readonly [valueType]: (values: T) => T;
}

/** Options of {@link channel}. */
export interface ChannelOptions<T extends object> {
  /** Schemas by key, for `set` and `get`; results of `append` and `add` are checked by `get`. */
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

/** Type of the elements of a list. */
export type ElementOf<V> = Exclude<V, undefined> extends readonly (infer E)[] ? E : never;

/** Methods that both views of a channel have. Values are JSON, keys texts of 1–128 bytes. */
export interface ChannelBase<T extends object> {
  /** The value of a key; `undefined` when none is stored. */
  get<K extends ChannelKey<T>>(key: K): Promise<T[K] | undefined>;
  /**
   * Replaces the value of a key.
   *
   * @throws {@link InvalidPayloadError} when JSON would change the value, or its schema refuses it.
   */
  set<K extends ChannelKey<T>>(key: K, value: Exclude<T[K], undefined>): Promise<void>;
  /** Removes the value of a key. */
  delete(key: ChannelKey<T>): Promise<void>;
}

/**
 * The channel that a handler writes to. Writes are buffered, and applied once when the handler
 * succeeds; `get` sees them and the stored values. Every write may throw {@link ChannelLimitError};
 * `append` and `add` may also throw {@link ChannelTypeError}.
 */
export interface ChannelOf<T extends object> extends ChannelBase<T> {
  /** Appends an element to a list; a missing list is created. */
  append<K extends ListKey<T>>(key: K, element: ElementOf<T[K]>): Promise<void>;
  /** Adds to a number; a missing number is 0. */
  add(key: NumberKey<T>, by: number): Promise<void>;
  /** The same channel with immediate writes, which stay if the handler fails. */
  readonly live: LiveChannel<T>;
}

/**
 * A channel whose writes are applied at once, while the handler's lease is in force; after that
 * they throw {@link LeaseLostError}. A handler that runs again writes again, unless it sets `once`.
 */
export interface LiveChannel<T extends object> extends ChannelBase<T> {
  /** Appends an element to a list; a missing list is created. */
  append<K extends ListKey<T>>(
    key: K,
    element: ElementOf<T[K]>,
    options?: OnceOptions,
  ): Promise<void>;
  /** Adds to a number; a missing number is 0. */
  add(key: NumberKey<T>, by: number, options?: OnceOptions): Promise<void>;
}

/** Options of a live write. */
export interface OnceOptions {
  /**
   * Idempotency key of the write, 1–128 bytes: of all live writes to one key of the channel with
   * this text, only the first is applied. A handler that runs again then writes once.
   */
  readonly once?: string | undefined;
}

/** Keys of {@link OnceOptions}. */
export const ONCE_KEYS: OptionKeys<OnceOptions> = keysOf<OnceOptions>()({ once: true });

/** A channel as the engine reads it. */
export interface ChannelDefinition {
  readonly name: string;
  readonly schemas: ReadonlyMap<string, StandardSchemaV1>;
}

/** Data of the definitions that callers hold. */
const DEFINITIONS = new WeakMap<object, ChannelDefinition>();

/**
 * Defines a channel: `channel<{ count: number }>('stats')`.
 *
 * @example
 * ```ts
 * import { channel, Fairloom, memory, task } from 'fairloom';
 *
 * const stats = channel<{ rows: number }>('stats');
 * const load = task('load', async (rows: number, ctx) => {
 *   await ctx.channel(stats).set('rows', rows);
 * });
 * const report = task('report', async (_input: unknown, ctx) => ctx.channel(stats).get('rows'));
 * const loom = new Fairloom({ backend: memory(), tasks: [load, report] });
 * console.log(await loom.run(load.pipe(report), 7)); // prints 7
 * await loom.close();
 * ```
 *
 * @throws {@link InvalidOptionError} when the name or a schema is invalid.
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
  // The type exists at compile time only.
  return definition as unknown as Channel<T>;
}

/** @throws {@link InvalidOptionError} when the value is not a channel. */
export function channelDefinitionOf(value: unknown): ChannelDefinition {
  const isObject = typeof value === 'object' && value !== null;
  const known = isObject ? DEFINITIONS.get(value) : undefined;
  if (known !== undefined) return known;
  // Made by another copy of the package, which holds its schemas.
  const name = isObject && Reflect.get(value, 'type') === 'channel' && Reflect.get(value, 'name');
  if (isName(name)) return { name, schemas: new Map() };
  throw new InvalidOptionError('channel', 'a channel, made by channel(name)', value);
}
