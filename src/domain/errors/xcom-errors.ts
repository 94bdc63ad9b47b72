/** Errors of XCom. */

import { LIMIT_TABLE } from '../limits.ts';
import { FairloomError, shown } from './fairloom-error.ts';

/** The limits of what one attempt changes. */
export type XComLimitName = 'xcomWrites' | 'xcomBytes';

/** An attempt would push or delete more values than its end can write down; nothing was written. */
export class XComLimitError extends FairloomError {
  /** The name of the class. */
  override readonly name = 'XComLimitError';
  /** See `docs/errors.md`. */
  readonly code = 'XCOM_LIMIT';
  /** The same call will not succeed without a change. */
  readonly retryable = false;
  /** The key that was the last to be written. */
  readonly key: string;
  /** The name of the limit, as `docs/limits.md` lists it. */
  readonly limit: XComLimitName;

  constructor(key: string, limit: XComLimitName) {
    const { value, unit } = LIMIT_TABLE[limit];
    super(`xcom key ${shown(key)}: more than ${value} ${unit} in one attempt (${limit})`);
    this.key = key;
    this.limit = limit;
  }
}
