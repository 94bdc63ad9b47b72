/** What the HTTP API answers instead of what was asked for: `application/problem+json`, by one table. */
import { ERRORS, type ErrorCode, isOwn } from '../domain/errors/errors.ts';
import { Refusal, type RefusalCode } from '../operations/refusal.ts';

/** The status of each. */
const REFUSALS: Readonly<Record<RefusalCode, number>> = {
  /** Without `access`, or by it, or for want of a permission. */
  FORBIDDEN: 403,
  /** A change that another site may have sent. */
  CROSS_SITE: 403,
  /** Asked under a name that the server is not known by, or under none that can be read. */
  UNKNOWN_HOST: 400,
  /** It leads elsewhere than its words say, or cannot be decoded. */
  INVALID_PATH: 400,
  /** It shows or changes what is everybody's. */
  NOT_FOR_SOME_USERS: 403,
  NOT_FOUND: 404,
  METHOD_NOT_ALLOWED: 405,
  BODY_TOO_LARGE: 413,
  NOT_JSON: 415,
  INVALID_JSON: 400,
  TOO_MANY_REQUESTS: 429,
  INTERNAL: 500,
  TOO_SLOW: 503,
};

/** A mistake as it is answered. */
export interface Problem {
  /** Always `about:blank`: the code says more. */
  readonly type: 'about:blank';
  /** The status in words. */
  readonly title: string;
  /** As the status of the answer. */
  readonly status: number;
  /** Stable: of `docs/errors.md`, or of the API itself. */
  readonly code: ErrorCode | RefusalCode;
  /** For people. */
  readonly detail: string;
  /** Whether the same call may succeed later without a change. */
  readonly retryable: boolean;
  /** The field or parameter that is not what it should be. */
  readonly option?: string;
  /** Of the call; the log has it too. */
  readonly requestId: string;
}

const TITLES: Readonly<Record<number, string>> = {
  400: 'Bad Request',
  403: 'Forbidden',
  404: 'Not Found',
  405: 'Method Not Allowed',
  409: 'Conflict',
  413: 'Content Too Large',
  415: 'Unsupported Media Type',
  422: 'Unprocessable Content',
  429: 'Too Many Requests',
  500: 'Internal Server Error',
  503: 'Service Unavailable',
  507: 'Insufficient Storage',
};

/** A thrown value as a problem. One that is no error of ours shows no details: the log has them. */
export function problemOf(error: unknown, requestId: string): Problem {
  const known = knownOf(error);
  const { status } = known;
  return { type: 'about:blank', title: TITLES[status] ?? 'Error', ...known, requestId };
}

function knownOf(error: unknown): Omit<Problem, 'type' | 'title' | 'requestId'> {
  if (error instanceof Refusal) {
    const status = REFUSALS[error.code];
    const retryable = status === 429 || status === 503;
    return { status, code: error.code, detail: error.message, retryable };
  }
  if (isOwn(error)) {
    const { code, message, retryable } = error;
    const option = isOwn(error, 'INVALID_OPTION') ? optionOf(error) : undefined;
    const status = ERRORS[code]?.status ?? 500;
    return {
      status,
      code,
      detail: message,
      retryable,
      ...(option === undefined ? {} : { option }),
    };
  }
  const detail = 'something failed that should not; the log of the server has it under this id';
  return { status: 500, code: 'INTERNAL', detail, retryable: false };
}

function optionOf(error: object): string | undefined {
  return 'option' in error ? String(error.option) : undefined;
}
