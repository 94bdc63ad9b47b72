import { read } from '../../base/as-data.ts';
import { isOwnError, OWN_ERROR } from '../../base/own-error.ts';

/**
 * The root of everything this library throws on purpose. Catch by class, or by `code` across
 * copies of the package; never by message. `retryable` answers one question: may the same call
 * succeed later without a change by the caller?
 *
 * Three families: the caller's mistake, the world changed, infrastructure (with `cause`).
 */
export abstract class FairloomError extends Error {
  /** Stable; `docs/errors.md` explains each. */
  abstract readonly code: ErrorCode;
  /** Whether the same call may succeed later without a change by the caller. */
  abstract readonly retryable: boolean;
}

// On the prototype: what copies the fields of one of these onto another error copies no brand.
Object.defineProperty(FairloomError.prototype, OWN_ERROR, { value: true });

/**
 * Whether it is one of our own errors, of this code if one is given. What decides asks this and never
 * `instanceof`: there may be several copies of this package, and others have codes of the same names.
 */
export function isOwn<E extends FairloomError = FairloomError>(
  value: unknown,
  code?: E['code'],
): value is E {
  return isOwnError(value) && (code === undefined || ownCode(value) === code);
}

/** The code of one of our own errors; `undefined` for everything else. */
export function ownCode(value: unknown): unknown {
  return isOwnError(value) ? read(Object(value), 'code') : undefined;
}

/** Stable names of all errors. */
export type ErrorCode =
  | 'INVALID_OPTION'
  | 'INVALID_CONFIG'
  | 'INVALID_PAYLOAD'
  | 'INVALID_RESULT'
  | 'DECRYPTION_FAILED'
  | 'UNKNOWN_TASK'
  | 'UNKNOWN_HANDLER'
  | 'UNKNOWN_DEPENDENCY'
  | 'CROSS_USER_DEPENDENCY'
  | 'DEPENDENCY_CYCLE'
  | 'DEPENDENCY_LIMIT'
  | 'DUPLICATE_NODE'
  | 'NOTATION'
  | 'TASK_CONFLICT'
  | 'KEY_TAKEN'
  | 'QUEUE_FULL'
  | 'BATCH_REFUSED'
  | 'TASK_NOT_FOUND'
  | 'SCHEDULE_NOT_FOUND'
  | 'WRONG_STATE'
  | 'TASK_BUSY'
  | 'TASK_FAILED'
  | 'TASK_CANCELED'
  | 'LEASE_LOST'
  | 'RESULT_TIMEOUT'
  | 'CLOCK_NOT_DRIVEN'
  | 'GRAPH_NOT_FOUND'
  | 'GRAPH_EXPIRED'
  | 'GRAPH_EVICTED'
  | 'GRAPH_CORRUPT'
  | 'GROUP_FAILED'
  | 'RUN_FAILED'
  | 'MAX_STEPS'
  | 'MAX_CYCLES'
  | 'GOTO_IN_GROUP'
  | 'CONTROL_NOT_RETURNED'
  | 'GROUP_CHANGED'
  | 'REPLAY_MISMATCH'
  | 'WAIT_OPEN'
  | 'WAIT_TIMED_OUT'
  | 'SIGNAL_LIMIT'
  | 'NOT_STORED'
  | 'ASK_NOT_FOUND'
  | 'ASK_CLOSED'
  | 'RUN_CANCELED'
  | 'RUN_FORMAT'
  | 'CHANNEL_LIMIT'
  | 'CHANNEL_TYPE'
  | 'STREAM_LIMIT'
  | 'XCOM_LIMIT'
  | 'FATAL'
  | 'RETRY_AFTER'
  | 'TIMED_OUT'
  | 'THREAD_ENDED'
  | 'PROCESS_ENDED'
  | 'PROGRAM_FAILED'
  | 'PROGRAM_NOT_STARTED'
  | 'CLOSED'
  | 'BACKEND_UNAVAILABLE'
  | 'BACKEND_FULL'
  | 'BACKEND_UNSUPPORTED'
  | 'CORRUPT_RECORD'
  | 'DATA_DAMAGED'
  | 'COPY_REFUSED';

/** A value as a message may show it: short, and nothing of an object. */
export function shown(value: unknown): string {
  switch (typeof value) {
    case 'string':
      return JSON.stringify(value.length > 80 ? `${value.slice(0, 77)}…` : value);
    case 'object':
      return value === null ? 'null' : 'an object';
    case 'function':
      return 'a function';
    default:
      return String(value);
  }
}
