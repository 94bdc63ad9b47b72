/** XCom: values that a user's tasks hand on by name, with a type. */
import type { Duration } from '../base/time.ts';
import { keysOf, type OptionKeys } from '../domain/errors/options.ts';
import type { Step, Task } from './step.ts';

/** Holds the type of the value; never a value. */
declare const valueType: unique symbol;

/** A key with the type of its value. Making one does nothing. */
export interface XComKey<in out T> {
  /** Tells it from other definitions. */
  readonly type: 'xcom-key';
  /** Two definitions of one name are the same key. */
  readonly name: string;
  /** Holds the type; never a value. */
  readonly [valueType]: (value: T) => T;
}

/** What a value is pulled by: a key, with a type or as a text, or the task that gave it. */
export type XComSource =
  | string
  /** Two keys of one name are the same key. */
  | { readonly type: 'xcom-key'; readonly name: string }
  | Task<never, unknown, unknown>;

/** What is pulled by a key or a task. */
export type XComPulled<K> =
  K extends XComKey<infer T>
    ? T | undefined
    : K extends Step<never, infer O, infer X>
      ? O | X | undefined
      : unknown;

/** How long a value is kept. */
export interface XComPushOptions {
  /** After the end of the task that pushes it. Default `FairloomOptions.xcom.ttl`, 1 h. */
  readonly ttl?: Duration | undefined;
}

/** What may stand in {@link XComPushOptions}. */
export const XCOM_PUSH_KEYS: OptionKeys<XComPushOptions> = keysOf<XComPushOptions>()({ ttl: true });

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
  push<T>(
    key: string | XComKey<T>,
    value: Exclude<NoInfer<T>, undefined>,
    options?: XComPushOptions,
  ): Promise<void>;
  /**
   * The value of a key, or the result that a task defined with `xcom: true` gave last; `undefined`
   * when there is none, or its time is over.
   */
  pull<K extends XComSource>(of: K): Promise<XComPulled<K>>;
  /** Takes a value away. */
  delete(key: XComSource): Promise<void>;
  /** The same user's values in another namespace; a text of 1–128 bytes. */
  in(namespace: string): XCom;
}
