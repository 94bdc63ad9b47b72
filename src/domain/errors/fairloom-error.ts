import { read } from '../../base/as-data.ts';
import { isOwnError, OWN_ERROR } from '../../base/own-error.ts';
import { ERRORS, type ErrorCode } from './catalogue.ts';

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

/** An error by its row of {@link ERRORS}; its class adds the fields and the sentence. */
export abstract class CodedError<C extends ErrorCode> extends FairloomError {
  /** The name of the class. */
  override readonly name: (typeof ERRORS)[C]['name'];
  /** See `docs/errors.md`. */
  readonly code: C;
  /** Whether the same call may succeed later without a change by the caller. */
  readonly retryable: (typeof ERRORS)[C]['retryable'];

  protected constructor(code: C, message?: string, options?: ErrorOptions) {
    super(message, options);
    const { name, retryable }: (typeof ERRORS)[C] = ERRORS[code];
    this.name = name;
    this.code = code;
    this.retryable = retryable;
  }
}

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
