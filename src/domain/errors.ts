import { messageOf } from '../base/message-of.ts';

/**
 * The root of everything this library throws on purpose. Catch by class, or by `code` across
 * copies of the package; never by message. `retryable` answers one question: may the same call
 * succeed later without a change by the caller?
 *
 * Three families: the caller's mistake, the world changed, infrastructure (with `cause`).
 */
export abstract class FairloomError extends Error {
  abstract readonly code: ErrorCode;
  abstract readonly retryable: boolean;
}

/** Stable names of all errors; `docs/errors.md` explains each. */
export type ErrorCode =
  | 'INVALID_OPTION'
  | 'INVALID_PAYLOAD'
  | 'INVALID_RESULT'
  | 'UNKNOWN_TASK'
  | 'UNKNOWN_DEPENDENCY'
  | 'CROSS_USER_DEPENDENCY'
  | 'DEPENDENCY_CYCLE'
  | 'TASK_CONFLICT'
  | 'KEY_TAKEN'
  | 'QUEUE_FULL'
  | 'BATCH_REFUSED'
  | 'TASK_NOT_FOUND'
  | 'WRONG_STATE'
  | 'TASK_BUSY'
  | 'TASK_FAILED'
  | 'TASK_CANCELED'
  | 'LEASE_LOST'
  | 'RESULT_TIMEOUT'
  | 'FATAL'
  | 'RETRY_AFTER'
  | 'TIMED_OUT'
  | 'THREAD_ENDED'
  | 'CLOSED'
  | 'BACKEND_UNAVAILABLE'
  | 'BACKEND_FULL'
  | 'BACKEND_UNSUPPORTED';

// The caller's mistake.

/** An option, id or name is not what the documentation asks for. Nothing was changed. */
export class InvalidOptionError extends FairloomError {
  override readonly name = 'InvalidOptionError';
  readonly code = 'INVALID_OPTION';
  readonly retryable = false;
  readonly option: string;
  readonly expected: string;

  constructor(option: string, expected: string, got: unknown) {
    super(`${option}: expected ${expected}, got ${shown(got)}`);
    this.option = option;
    this.expected = expected;
  }
}

/** An input cannot be stored as JSON without changing it, is too large, or fails its schema. */
export class InvalidPayloadError extends FairloomError {
  override readonly name = 'InvalidPayloadError';
  readonly code = 'INVALID_PAYLOAD';
  readonly retryable = false;
  /** Where in the value, as `$.items[3].price`. */
  readonly path: string;

  constructor(path: string, problem: string) {
    super(`payload at ${path}: ${problem}`);
    this.path = path;
  }
}

/** A handler returned something that cannot be stored; the task has ended as failed. */
export class InvalidResultError extends FairloomError {
  override readonly name = 'InvalidResultError';
  readonly code = 'INVALID_RESULT';
  readonly retryable = false;
  readonly path: string;

  constructor(path: string, problem: string) {
    super(`result at ${path}: ${problem}`);
    this.path = path;
  }
}

/** This process has no task of that name. */
export class UnknownTaskError extends FairloomError {
  override readonly name = 'UnknownTaskError';
  readonly code = 'UNKNOWN_TASK';
  readonly retryable = false;
  readonly taskName: string;

  constructor(taskName: string) {
    super(`no task named ${shown(taskName)} is registered here`);
    this.taskName = taskName;
  }
}

/** A task depends on an id that is not stored, or no longer. */
export class UnknownDependencyError extends FairloomError {
  override readonly name = 'UnknownDependencyError';
  readonly code = 'UNKNOWN_DEPENDENCY';
  readonly retryable = false;
  readonly taskId: string;
  readonly dependency: string;

  constructor(taskId: string, dependency: string) {
    super(`task ${taskId} depends on ${shown(dependency)}, which is not stored`);
    this.taskId = taskId;
    this.dependency = dependency;
  }
}

/** A task depends on another user's task without `allowCrossUser`. */
export class CrossUserDependencyError extends FairloomError {
  override readonly name = 'CrossUserDependencyError';
  readonly code = 'CROSS_USER_DEPENDENCY';
  readonly retryable = false;
  readonly taskId: string;
  readonly dependency: string;

  constructor(taskId: string, dependency: string) {
    super(`task ${taskId} depends on ${shown(dependency)} of another user`);
    this.taskId = taskId;
    this.dependency = dependency;
  }
}

/** Tasks that would wait for each other for ever. */
export class DependencyCycleError extends FairloomError {
  override readonly name = 'DependencyCycleError';
  readonly code = 'DEPENDENCY_CYCLE';
  readonly retryable = false;
  readonly path: readonly string[];

  constructor(path: readonly string[]) {
    const ids = path.length > 12 ? [...path.slice(0, 6), '…', ...path.slice(-5)] : path;
    super(`dependency cycle: ${ids.join(' → ')}`);
    this.path = path;
  }
}

/** The id is taken by a task with another user, name or payload. */
export class TaskConflictError extends FairloomError {
  override readonly name = 'TaskConflictError';
  readonly code = 'TASK_CONFLICT';
  readonly retryable = false;
  readonly taskId: string;

  constructor(taskId: string, why = 'with another user, name or payload') {
    super(`task ${taskId} exists ${why}`);
    this.taskId = taskId;
  }
}

/** The idempotency key belongs to another task, and the policy is `reject`. */
export class KeyTakenError extends FairloomError {
  override readonly name = 'KeyTakenError';
  readonly code = 'KEY_TAKEN';
  readonly retryable = false;
  readonly key: string;
  readonly taskId: string;

  constructor(key: string, taskId: string) {
    super(`idempotency key ${shown(key)} is held by task ${taskId}`);
    this.key = key;
    this.taskId = taskId;
  }
}

/** One item of an all-or-none call was refused, so none of it was stored; `cause` says why. */
export class BatchRefusedError extends FairloomError {
  override readonly name = 'BatchRefusedError';
  readonly code = 'BATCH_REFUSED';
  readonly retryable = false;
  /** Position of the item that was refused. */
  readonly index: number;

  constructor(index: number, cause: FairloomError) {
    super(`nothing was stored: item ${index} was refused (${cause.message})`, { cause });
    this.index = index;
  }
}

// The world changed.

/** The user has as many waiting tasks as it may have. */
export class QueueFullError extends FairloomError {
  override readonly name = 'QueueFullError';
  readonly code = 'QUEUE_FULL';
  readonly retryable = true;
  readonly user: string;
  readonly limit: number;
  readonly size: number;

  constructor(user: string, limit: number, size: number) {
    super(`user ${shown(user)} has ${size} of at most ${limit} waiting tasks`);
    this.user = user;
    this.limit = limit;
    this.size = size;
  }
}

/** No task has this id, or retention has taken it. */
export class TaskNotFoundError extends FairloomError {
  override readonly name = 'TaskNotFoundError';
  readonly code = 'TASK_NOT_FOUND';
  readonly retryable = false;
  readonly taskId: string;

  constructor(taskId: string) {
    super(`task ${taskId} is not stored`);
    this.taskId = taskId;
  }
}

/** The operation does not apply to a task in this state. */
export class WrongStateError extends FairloomError {
  override readonly name = 'WrongStateError';
  readonly code = 'WRONG_STATE';
  readonly retryable = false;
  readonly taskId: string;
  readonly state: string;

  constructor(operation: string, taskId: string, state: string) {
    super(`${operation}: task ${taskId} is ${state}`);
    this.taskId = taskId;
    this.state = state;
  }
}

/** The dependents of the task are still being released, or read it; try again shortly. */
export class TaskBusyError extends FairloomError {
  override readonly name = 'TaskBusyError';
  readonly code = 'TASK_BUSY';
  readonly retryable = true;
  readonly taskId: string;

  constructor(operation: string, taskId: string) {
    super(`${operation}: task ${taskId} is still needed by its dependents`);
    this.taskId = taskId;
  }
}

/** The task whose result was awaited has failed; its error's name and message are kept. */
export class TaskFailedError extends FairloomError {
  override readonly name = 'TaskFailedError';
  readonly code = 'TASK_FAILED';
  readonly retryable = false;
  readonly taskId: string;
  readonly failureType: string;
  readonly errorName: string;

  constructor(taskId: string, failureType: string, error: { name: string; message: string }) {
    super(`task ${taskId} failed (${failureType}): ${error.message}`);
    this.taskId = taskId;
    this.failureType = failureType;
    this.errorName = error.name;
  }
}

/** The task whose result was awaited was canceled. */
export class TaskCanceledError extends FairloomError {
  override readonly name = 'TaskCanceledError';
  readonly code = 'TASK_CANCELED';
  readonly retryable = false;
  readonly taskId: string;

  constructor(taskId: string, reason: string) {
    super(`task ${taskId} was canceled${reason === '' ? '' : `: ${reason}`}`);
    this.taskId = taskId;
  }
}

/** The lease ended while the handler ran; the reason of its aborted signal. */
export class LeaseLostError extends FairloomError {
  override readonly name = 'LeaseLostError';
  readonly code = 'LEASE_LOST';
  readonly retryable = false;
  readonly taskId: string;

  constructor(taskId: string) {
    super(`task ${taskId}: the lease was lost; another worker may run it now`);
    this.taskId = taskId;
  }
}

/** `result({ timeout })` waited that long; the task goes on. */
export class ResultTimeoutError extends FairloomError {
  override readonly name = 'ResultTimeoutError';
  readonly code = 'RESULT_TIMEOUT';
  readonly retryable = true;
  readonly taskId: string;

  constructor(taskId: string, timeoutMs: number) {
    super(`task ${taskId} had not ended after ${timeoutMs} ms`);
    this.taskId = taskId;
  }
}

// Thrown by handlers to steer.

/** Thrown by a handler: no retry will help, the task ends as failed. */
export class Fatal extends FairloomError {
  override readonly name = 'Fatal';
  readonly code = 'FATAL';
  readonly retryable = false;
}

/** Made by `retryAfter`: run again after this long; counted as an attempt unless told otherwise. */
export class RetryAfter extends FairloomError {
  override readonly name = 'RetryAfter';
  readonly code = 'RETRY_AFTER';
  readonly retryable = true;
  readonly delayMs: number;
  readonly countAttempt: boolean;

  constructor(delayMs: number, countAttempt: boolean, message: string) {
    super(message);
    this.delayMs = delayMs;
    this.countAttempt = countAttempt;
  }
}

/** The reason of the signal of a handler that ran longer than its timeout. */
export class TimedOutError extends FairloomError {
  override readonly name = 'TimedOutError';
  readonly code = 'TIMED_OUT';
  readonly retryable = true;
  readonly taskId: string;

  constructor(taskId: string, timeoutMs: number) {
    super(`task ${taskId} ran longer than its timeout of ${timeoutMs} ms`);
    this.taskId = taskId;
  }
}

// Infrastructure.

/** The thread of a `threadTask` ended before its handler did: it crashed, or ran out of memory. */
export class ThreadEndedError extends FairloomError {
  override readonly name = 'ThreadEndedError';
  readonly code = 'THREAD_ENDED';
  readonly retryable = true;

  constructor(taskId: string, cause: unknown) {
    super(`the thread of task ${taskId} ended (${messageOf(cause)})`, { cause });
  }
}

/** The client, worker or backend was closed. */
export class ClosedError extends FairloomError {
  override readonly name = 'ClosedError';
  readonly code = 'CLOSED';
  readonly retryable = false;

  constructor(what: string) {
    super(`${what} is closed`);
  }
}

/** The backend did not answer, or answered that it cannot serve now. `cause` is the client's error. */
export class BackendUnavailableError extends FairloomError {
  override readonly name = 'BackendUnavailableError';
  readonly code = 'BACKEND_UNAVAILABLE';
  readonly retryable = true;

  constructor(operation: string, cause: unknown) {
    super(`${operation}: the backend is unavailable (${messageOf(cause)})`, { cause });
  }
}

/** The backend is out of memory: it takes no new work, while running work goes on. */
export class BackendFullError extends FairloomError {
  override readonly name = 'BackendFullError';
  readonly code = 'BACKEND_FULL';
  readonly retryable = true;

  constructor(operation: string, cause: unknown) {
    super(`${operation}: the backend is out of memory and takes no new work`, { cause });
  }
}

/** The server is too old, its data has a newer layout, or a setting rules it out. */
export class BackendUnsupportedError extends FairloomError {
  override readonly name = 'BackendUnsupportedError';
  readonly code = 'BACKEND_UNSUPPORTED';
  readonly retryable = false;
}

function shown(value: unknown): string {
  if (typeof value === 'string')
    return JSON.stringify(value.length > 80 ? `${value.slice(0, 77)}…` : value);
  return typeof value === 'object' && value !== null ? 'an object' : String(value);
}
