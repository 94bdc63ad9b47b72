/** XCom: typed values, by name, that tasks of one user share. */
import type { Duration } from '../base/time.ts';
import { keysOf, type OptionKeys } from '../domain/errors/options.ts';
import type { Step, Task } from './step.ts';

/** Carries the type of the value; absent at run time. */
declare const valueType: unique symbol;

/** A key with the type of its value. Making one has no effect. */
export interface XComKey<in out T> {
  /** Type tag. */
  readonly type: 'xcom-key';
  /** Its name. Two definitions with one name are the same key. */
  readonly name: string;
  /** Carries the type; absent at run time. */
  readonly [valueType]: (value: T) => T;
}

/** A key of a pull: a typed key, a text, or the task that produced the value. */
export type XComSource =
  | string
  /** A key as data: its name identifies it. */
  | { readonly type: 'xcom-key'; readonly name: string }
  | Task<never, unknown, unknown>;

/** Type of the value that a pull returns. */
export type XComPulled<K> =
  K extends XComKey<infer T>
    ? T | undefined
    : K extends Step<never, infer O, infer X>
      ? O | X | undefined
      : unknown;

/** Options of a push. */
export interface XComPushOptions {
  /** Time after the end of its task. Default `FairloomOptions.xcom.ttl`, 1 h. */
  readonly ttl?: Duration | undefined;
}

/** Keys of {@link XComPushOptions}. */
export const XCOM_PUSH_KEYS: OptionKeys<XComPushOptions> = keysOf<XComPushOptions>()({ ttl: true });

/**
 * Named values of a handler's user, in one namespace. Pushes and deletes of a handler are buffered,
 * and applied once when it succeeds; `pull` sees them. Keys are texts of 1–128 bytes.
 */
export interface XCom {
  /**
   * Replaces the value of a key.
   *
   * @throws {@link InvalidPayloadError} for a value that JSON would change, is too large, or is
   * refused by the key's schema; {@link XComLimitError} for more values than one attempt may change;
   * {@link InvalidOptionError}.
   */
  push<T>(
    key: string | XComKey<T>,
    value: Exclude<NoInfer<T>, undefined>,
    options?: XComPushOptions,
  ): Promise<void>;
  /**
   * The value of a key, or the latest result of a task defined with `xcom: true`; `undefined`
   * without one, or after its `ttl`.
   */
  pull<K extends XComSource>(of: K): Promise<XComPulled<K>>;
  /** Removes the value of a key. */
  delete(key: XComSource): Promise<void>;
  /** Values of the same user in another namespace; a text of 1–128 bytes. */
  in(namespace: string): XCom;
}
