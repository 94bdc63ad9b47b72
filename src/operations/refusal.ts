/** What operations answer where there is no answer, and where there is nothing more to say than that it is done. */
import type { Change } from './change-answers.ts';

/** Codes of refusals that are of the API itself, and no error of the library. */
export type RefusalCode =
  | 'FORBIDDEN'
  | 'CROSS_SITE'
  | 'UNKNOWN_HOST'
  | 'INVALID_PATH'
  | 'NOT_FOR_SOME_USERS'
  | 'NOT_FOUND'
  | 'METHOD_NOT_ALLOWED'
  | 'BODY_TOO_LARGE'
  | 'NOT_JSON'
  | 'INVALID_JSON'
  | 'TOO_MANY_REQUESTS'
  | 'INTERNAL'
  | 'TOO_SLOW';

/** Thrown where no error of the library says it. */
export class Refusal extends Error {
  override readonly name = 'Refusal';
  /** Of the problem. */
  readonly code: RefusalCode;
  /** Headers that the answer over HTTP has besides. */
  readonly headers: Readonly<Record<string, string>>;

  constructor(code: RefusalCode, detail: string, headers: Readonly<Record<string, string>> = {}) {
    super(detail);
    this.code = code;
    this.headers = headers;
  }
}

/** Refuses a call for an object that is missing, or of another user; `what` names it as the call did. */
export function missing(what: string): Refusal {
  return new Refusal('NOT_FOUND', `there is no ${what}`);
}

/** A change that was made. */
export function done(id: string, outcome: string): Change {
  return { id, ok: true, outcome };
}
