import { messageOf } from '../../../base/message-of.ts';
import { isRecord } from '../../../base/records.ts';
import { errorSaying } from '../../../base/thrown.ts';
import {
  BackendFullError,
  BackendUnavailableError,
  BackendUnsupportedError,
  type ErrorCode,
  InvalidOptionError,
  isOwn,
  ownCode,
} from '../../../domain/errors/errors.ts';

/** An error of the owner, as it goes to a guest. */
export interface Failure {
  /** Absent: it is none of ours, so a mistake in the code. */
  readonly code?: ErrorCode;
  /** For people; of an error that has a cause, that of the cause, since the guest makes the error around it anew. */
  readonly message: string;
  /** Of `INVALID_OPTION`. */
  readonly option?: string;
  /** Likewise. */
  readonly expected?: string;
}

/** What a guest gets of an error. */
export function failureOf(error: unknown): Failure {
  switch (ownCode(error)) {
    case 'BACKEND_UNAVAILABLE':
      return { code: 'BACKEND_UNAVAILABLE', message: causeOf(error) };
    case 'BACKEND_FULL':
      return { code: 'BACKEND_FULL', message: causeOf(error) };
    case 'BACKEND_UNSUPPORTED':
      return { code: 'BACKEND_UNSUPPORTED', message: messageOf(error) };
    // The owner is closed and the guest is not: there will be another owner.
    case 'CLOSED':
      return { code: 'BACKEND_UNAVAILABLE', message: 'its owner has closed' };
    case 'INVALID_OPTION':
      return refusalOf(error);
    default:
      return { message: messageOf(error) };
  }
}

/** The error of the same class, for the caller. */
export function errorOf(call: string, failure: unknown): Error {
  const { code, message, option, expected } = isRecord(failure) ? failure : {};
  const text = String(message);
  switch (code) {
    case 'BACKEND_UNAVAILABLE':
      return new BackendUnavailableError(call, text);
    case 'BACKEND_FULL':
      return new BackendFullError(call, text);
    case 'BACKEND_UNSUPPORTED':
      return new BackendUnsupportedError(text);
    case 'INVALID_OPTION':
      return new InvalidOptionError(String(option), String(expected), undefined, text);
    default:
      return errorSaying(`${call}: ${text}`);
  }
}

function refusalOf(error: unknown): Failure {
  const message = messageOf(error);
  if (!isOwn<InvalidOptionError>(error, 'INVALID_OPTION')) return { message };
  return { code: 'INVALID_OPTION', message, option: error.option, expected: error.expected };
}

function causeOf(error: unknown): string {
  return error instanceof Error ? messageOf(error.cause) : '';
}
