/** Channels: values that the nodes of one run share, by name and with a type. */
import { checkName } from '../domain/names.ts';

/** Holds the type of the values; never a value. */
declare const held: unique symbol;

/** The definition of a channel. Making one does nothing; a run has its values. */
export interface Channel<in out T extends object> {
  readonly type: 'channel';
  readonly name: string;
  /** Holds the type; never a value. */
  readonly [held]: (values: T) => T;
}

/** Keys of `T` whose values are numbers. */
export type NumberKeys<T> = {
  [K in keyof T]: T[K] extends number ? K : never;
}[keyof T];

/** A channel in the hands of a handler. */
export interface ChannelOf<T extends object> {
  /** `undefined` when nothing was written. */
  get<K extends keyof T>(key: K): Promise<T[K] | undefined>;
  set<K extends keyof T>(key: K, value: T[K]): Promise<void>;
  delete<K extends keyof T>(key: K): Promise<void>;
  /** Puts an element at the end of a list. */
  append<K extends keyof T>(
    key: K,
    element: T[K] extends readonly (infer E)[] ? E : never,
  ): Promise<void>;
  /** Adds to a number, which begins at 0. */
  add<K extends NumberKeys<T>>(key: K, by: number): Promise<void>;
}

/**
 * Defines a channel: `channel<{ count: number }>('stats')`.
 *
 * @throws {@link InvalidOptionError} when the name is none.
 */
export function channel<T extends object>(name: string): Channel<T> {
  const definition = { type: 'channel', name: checkName('channel name', name) } as const;
  // The type of the values is a promise about JSON, nothing at run time.
  return Object.freeze(definition) as unknown as Channel<T>;
}
