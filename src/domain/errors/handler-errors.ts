/** What handlers throw to steer, and what a handler that runs too long is told. */
import { FairloomError, isOwn } from './fairloom-error.ts';

/** Thrown by a handler: no retry will help, the task ends as failed. */
export class Fatal extends FairloomError {
  /** The name of the class. */
  override readonly name = 'Fatal';
  /** See `docs/errors.md`. */
  readonly code = 'FATAL';
  /** The same call will not succeed without a change. */
  readonly retryable = false;
}

/** Made by `retryAfter`: run again after this long; counted as an attempt unless told otherwise. */
export class RetryAfter extends FairloomError {
  /** The name of the class. */
  override readonly name = 'RetryAfter';
  /** See `docs/errors.md`. */
  readonly code = 'RETRY_AFTER';
  /** The same call may succeed later. */
  readonly retryable = true;
  /** How long to wait, in ms. */
  readonly delayMs: number;
  /** Whether it uses up one of the retries. */
  readonly countAttempt: boolean;

  constructor(delayMs: number, countAttempt: boolean, message: string) {
    super(message);
    this.delayMs = delayMs;
    this.countAttempt = countAttempt;
  }
}

/** Whether it asks for another attempt after a while, whichever copy of this package made it. */
export function isRetryAfter(value: unknown): value is RetryAfter {
  return isOwn(value, 'RETRY_AFTER') && Number.isFinite(Reflect.get(value, 'delayMs'));
}

/** The reason of the signal of a handler that ran longer than its timeout. */
export class TimedOutError extends FairloomError {
  /** The name of the class. */
  override readonly name = 'TimedOutError';
  /** See `docs/errors.md`. */
  readonly code = 'TIMED_OUT';
  /** The same call may succeed later. */
  readonly retryable = true;
  /** The task. */
  readonly taskId: string;

  constructor(taskId: string, timeoutMs: number) {
    super(`task ${taskId} ran longer than its timeout of ${timeoutMs} ms`);
    this.taskId = taskId;
  }
}
