/** Errors of the second family: the world changed, and not as the caller hoped. */
import { errorFrom, type TaskError, textOfError } from '../../base/thrown.ts';
import { type Cause, causeText, type FailureType, failureTypeOf } from '../task/cause.ts';
import { shownNode } from '../task/node-name.ts';
import { FairloomError, shown } from './fairloom-error.ts';

/** The user has as many waiting tasks as it may have. */
export class QueueFullError extends FairloomError {
  /** The name of the class. */
  override readonly name = 'QueueFullError';
  /** See `docs/errors.md`. */
  readonly code = 'QUEUE_FULL';
  /** The same call may succeed later. */
  readonly retryable = true;
  /** The user. */
  readonly user: string;
  /** Its `maxQueued`. */
  readonly limit: number;
  /** Its waiting tasks at that moment. */
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
  /** The name of the class. */
  override readonly name = 'TaskNotFoundError';
  /** See `docs/errors.md`. */
  readonly code = 'TASK_NOT_FOUND';
  /** The same call will not succeed without a change. */
  readonly retryable = false;
  /** The task. */
  readonly taskId: string;

  constructor(taskId: string) {
    super(`task ${taskId} is not stored`);
    this.taskId = taskId;
  }
}

/** There is no schedule of this name. */
export class ScheduleNotFoundError extends FairloomError {
  /** The name of the class. */
  override readonly name = 'ScheduleNotFoundError';
  /** See `docs/errors.md`. */
  readonly code = 'SCHEDULE_NOT_FOUND';
  /** The same call will not succeed without a change. */
  readonly retryable = false;
  /** The name. */
  readonly schedule: string;

  constructor(schedule: string) {
    super(`there is no schedule ${schedule}`);
    this.schedule = schedule;
  }
}

/** By operation and state: what to do in place of an operation that the state forbids. */
const WAYS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  redrive: { scheduled: 'run-now makes it due' },
  'run now': { failed: 'redrive puts it back' },
  remove: {
    ...{ scheduled: 'cancel it first', deferred: 'cancel it first' },
    ...{ queued: 'cancel it first', started: 'cancel it first' },
  },
};

/** The operation does not apply to a task in this state. */
export class WrongStateError extends FairloomError {
  /** The name of the class. */
  override readonly name = 'WrongStateError';
  /** See `docs/errors.md`. */
  readonly code = 'WRONG_STATE';
  /** The same call will not succeed without a change. */
  readonly retryable = false;
  /** The task. */
  readonly taskId: string;
  /** Where the task stands. */
  readonly state: string;
  /** The run of which it is a part, where that is why: the run is what can be changed. */
  readonly runId?: string;

  constructor(
    operation: string,
    taskId: string,
    state: string,
    /** `way`: the command that does again what has failed. */
    part?: { readonly runId: string; readonly way: string | undefined },
  ) {
    const way = part === undefined ? WAYS[operation]?.[state] : part.way;
    const other = way === undefined ? '' : `: ${way}`;
    const whole = part === undefined ? '' : `, and a part of run ${part.runId}`;
    super(`${operation}: task ${taskId} is ${state}${whole}${other}`);
    this.taskId = taskId;
    this.state = state;
    if (part !== undefined) this.runId = part.runId;
  }
}

/** The dependents of the task are still being released, or read it; try again shortly. */
export class TaskBusyError extends FairloomError {
  /** The name of the class. */
  override readonly name = 'TaskBusyError';
  /** See `docs/errors.md`. */
  readonly code = 'TASK_BUSY';
  /** The same call may succeed later. */
  readonly retryable = true;
  /** The task. */
  readonly taskId: string;

  constructor(operation: string, taskId: string, why: string = 'still needed by its dependents') {
    super(`${operation}: task ${taskId} is ${why}`);
    this.taskId = taskId;
  }
}

/** The task whose result was awaited has failed. `cause` is what its handler threw, as it was kept. */
export class TaskFailedError extends FairloomError {
  /** The name of the class. */
  override readonly name = 'TaskFailedError';
  /** See `docs/errors.md`. */
  readonly code = 'TASK_FAILED';
  /** The same call will not succeed without a change. */
  readonly retryable = false;
  /** The task. */
  readonly taskId: string;
  /** Why; `Error.cause` is another thing. */
  readonly why: Cause;
  /** In which way it failed, as `why` says. */
  readonly failureType: FailureType;
  /** Class of what the handler threw, as `TypeError`. */
  readonly errorName: string;

  constructor(taskId: string, why: Cause, error: TaskError) {
    const failureType = failureTypeOf(why) ?? 'error';
    const cause = errorFrom(error);
    super(`task ${taskId} failed (${failureType}): ${textOfError(error)}`, { cause });
    this.taskId = taskId;
    this.why = why;
    this.failureType = failureType;
    this.errorName = error.name;
  }
}

/** The task whose result was awaited was canceled. */
export class TaskCanceledError extends FairloomError {
  /** The name of the class. */
  override readonly name = 'TaskCanceledError';
  /** See `docs/errors.md`. */
  readonly code = 'TASK_CANCELED';
  /** The same call will not succeed without a change. */
  readonly retryable = false;
  /** The task. */
  readonly taskId: string;
  /** Why. */
  readonly why: Cause;

  constructor(taskId: string, why: Cause) {
    super(`task ${shownNode(taskId)} was canceled: ${causeText(why)}`);
    this.taskId = taskId;
    this.why = why;
  }
}

/** The lease ended while the handler ran; the reason of its aborted signal. */
export class LeaseLostError extends FairloomError {
  /** The name of the class. */
  override readonly name = 'LeaseLostError';
  /** See `docs/errors.md`. */
  readonly code = 'LEASE_LOST';
  /** The same call will not succeed without a change. */
  readonly retryable = false;
  /** The task. */
  readonly taskId: string;

  constructor(taskId: string) {
    super(`task ${taskId}: the lease was lost; another worker may run it now`);
    this.taskId = taskId;
  }
}

/** `result({ timeout })` waited that long; the task goes on. */
export class ResultTimeoutError extends FairloomError {
  /** The name of the class. */
  override readonly name = 'ResultTimeoutError';
  /** See `docs/errors.md`. */
  readonly code = 'RESULT_TIMEOUT';
  /** The same call may succeed later. */
  readonly retryable = true;
  /** The task. */
  readonly taskId: string;

  constructor(taskId: string, timeoutMs: number) {
    super(`task ${taskId} had not ended after ${timeoutMs} ms`);
    this.taskId = taskId;
  }
}

/** A test waits for a task, and neither `drain` nor `advance` of its `testLoom` is called. */
export class ClockNotDrivenError extends FairloomError {
  /** The name of the class. */
  override readonly name = 'ClockNotDrivenError';
  /** See `docs/errors.md`. */
  readonly code = 'CLOCK_NOT_DRIVEN';
  /** The same call may succeed later. */
  readonly retryable = true;
  /** The task. */
  readonly taskId: string;

  constructor(taskId: string) {
    super(`task ${taskId} cannot end: nothing drives this clock: call drain or advance`);
    this.taskId = taskId;
  }
}
