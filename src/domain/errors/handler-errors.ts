/** What handlers throw to steer, and what a handler that runs too long is told. */
import { shownNode } from '../task/node-name.ts';
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

/** The wait that an error asks for before another attempt. */
export type AskedWait = Pick<RetryAfter, 'delayMs' | 'countAttempt'>;

/** What it asks for, whichever copy of this package made it, and whether by itself or by members of a group. */
export function waitAskedBy(value: unknown): AskedWait | undefined {
  if (!isOwn(value, 'RETRY_AFTER') && !isOwn(value, 'GROUP_FAILED')) return undefined;
  const delayMs: unknown = Reflect.get(value, 'delayMs');
  if (typeof delayMs !== 'number' || !Number.isFinite(delayMs)) return undefined;
  return { delayMs, countAttempt: Reflect.get(value, 'countAttempt') !== false };
}

/** Of a group: members that it has to have said that no retry helps. */
export function isFinalGroup(value: unknown): boolean {
  return isOwn(value, 'GROUP_FAILED') && Reflect.get(value, 'isFinal') === true;
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
    super(`task ${shownNode(taskId)} ran longer than its timeout of ${timeoutMs} ms`);
    this.taskId = taskId;
  }
}
