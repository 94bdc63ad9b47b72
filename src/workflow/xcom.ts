/** XCom: values that a user's tasks hand on by name, with a type. */
import type { Duration } from '../base/time.ts';
import type { Step } from './step.ts';

/** Holds the type of the value; never a value. */
declare const held: unique symbol;

/** A key with the type of its value. Making one does nothing. */
export interface XComKey<in out T> {
  /** Tells it from other definitions. */
  readonly type: 'xcom-key';
  /** Two definitions of one name are the same key. */
  readonly name: string;
  /** Holds the type; never a value. */
  readonly [held]: (value: T) => T;
}

/** How long a value is kept. */
export interface XComPushOptions {
  /** After the end of the task that pushes it. Default `FairloomOptions.xcom.ttl`, 1 h. */
  readonly ttl?: Duration | undefined;
}

/**
 * The named values of a handler's user, in one namespace. What a handler pushes or deletes is held
 * until it has succeeded, and applied with that, once; `pull` sees it before. Keys are texts of 1–128
 * bytes.
 */
export interface XCom {
  /**
   * Puts a value in place of the one before.
   *
   * @throws {@link InvalidPayloadError} for a value that cannot be stored as it is, is too large, or
   * is refused by the schema of the key; {@link XComLimitError} for more values than one attempt may
   * change; {@link InvalidOptionError}.
   */
  push<T>(key: XComKey<T>, value: Exclude<T, undefined>, options?: XComPushOptions): Promise<void>;
  /** The same under a key without a type. */
  push(key: string, value: unknown, options?: XComPushOptions): Promise<void>;
  /** The value of a key; `undefined` when there is none, or its time is over. */
  pull<T>(key: XComKey<T>): Promise<T | undefined>;
  /** The result that a task defined with `xcom: true` gave last. */
  pull<O, X>(of: Step<never, O, X>): Promise<O | X | undefined>;
  /** The value of a key without a type. */
  pull(key: string): Promise<unknown>;
  /** Takes a value away. */
  delete(key: string | { readonly name: string }): Promise<void>;
  /** The same user's values in another namespace; a text of 1–128 bytes. */
  in(namespace: string): XCom;
}
