/** Errors of the second family: the world changed, and not as the caller hoped. */
import { errorFrom, type TaskError, textOfError } from '../../base/thrown.ts';
import { type Cause, causeText, type FailureType, failureTypeOf } from '../task/cause.ts';
import { shownNode } from '../task/node-name.ts';
import { CodedError, shown } from './fairloom-error.ts';

/** The user has as many waiting tasks as it may have. */
export class QueueFullError extends CodedError<'QUEUE_FULL'> {
  /** The user. */ readonly user: string;
  /** Its `maxQueued`. */ readonly limit: number;
  /** Its waiting tasks at that moment. */ readonly size: number;
  constructor(user: string, limit: number, size: number) {
    super('QUEUE_FULL', `user ${shown(user)} has ${size} of at most ${limit} waiting tasks`);
    this.user = user;
    this.limit = limit;
    this.size = size;
  }
}

/** No task has this id, or retention has taken it. */
export class TaskNotFoundError extends CodedError<'TASK_NOT_FOUND'> {
  /** The task. */ readonly taskId: string;
  constructor(taskId: string) {
    super('TASK_NOT_FOUND', `task ${taskId} is not stored`);
    this.taskId = taskId;
  }
}

/** There is no schedule of this name. */
export class ScheduleNotFoundError extends CodedError<'SCHEDULE_NOT_FOUND'> {
  /** The name. */ readonly schedule: string;
  constructor(schedule: string) {
    super('SCHEDULE_NOT_FOUND', `there is no schedule ${schedule}`);
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
export class WrongStateError extends CodedError<'WRONG_STATE'> {
  /** The task. */ readonly taskId: string;
  /** Where the task stands. */ readonly state: string;
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
    super('WRONG_STATE', `${operation}: task ${taskId} is ${state}${whole}${other}`);
    this.taskId = taskId;
    this.state = state;
    if (part !== undefined) this.runId = part.runId;
  }
}

/** The dependents of the task are still being released, or read it; try again shortly. */
export class TaskBusyError extends CodedError<'TASK_BUSY'> {
  /** The task. */ readonly taskId: string;
  constructor(operation: string, taskId: string, why: string = 'still needed by its dependents') {
    super('TASK_BUSY', `${operation}: task ${taskId} is ${why}`);
    this.taskId = taskId;
  }
}

/** The task whose result was awaited has failed. `cause` is what its handler threw, as it was kept. */
export class TaskFailedError extends CodedError<'TASK_FAILED'> {
  /** The task. */ readonly taskId: string;
  /** Why; `Error.cause` is another thing. */ readonly why: Cause;
  /** In which way it failed, as `why` says. */ readonly failureType: FailureType;
  /** Class of what the handler threw, as `TypeError`. */ readonly errorName: string;
  constructor(taskId: string, why: Cause, error: TaskError) {
    const failureType = failureTypeOf(why) ?? 'error';
    const cause = errorFrom(error);
    super('TASK_FAILED', `task ${taskId} failed (${failureType}): ${textOfError(error)}`, {
      cause,
    });
    this.taskId = taskId;
    this.why = why;
    this.failureType = failureType;
    this.errorName = error.name;
  }
}

/** The task whose result was awaited was canceled. */
export class TaskCanceledError extends CodedError<'TASK_CANCELED'> {
  /** The task. */ readonly taskId: string;
  /** Why. */ readonly why: Cause;
  constructor(taskId: string, why: Cause) {
    super('TASK_CANCELED', `task ${shownNode(taskId)} was canceled: ${causeText(why)}`);
    this.taskId = taskId;
    this.why = why;
  }
}

/** The lease ended while the handler ran; the reason of its aborted signal. */
export class LeaseLostError extends CodedError<'LEASE_LOST'> {
  /** The task. */ readonly taskId: string;
  constructor(taskId: string) {
    super('LEASE_LOST', `task ${taskId}: the lease was lost; another worker may run it now`);
    this.taskId = taskId;
  }
}

/** `result({ timeout })` waited that long; the task goes on. */
export class ResultTimeoutError extends CodedError<'RESULT_TIMEOUT'> {
  /** The task. */ readonly taskId: string;
  constructor(taskId: string, timeoutMs: number) {
    super('RESULT_TIMEOUT', `task ${taskId} had not ended after ${timeoutMs} ms`);
    this.taskId = taskId;
  }
}

/** A test waits for a task, and neither `drain` nor `advance` of its `testLoom` is called. */
export class ClockNotDrivenError extends CodedError<'CLOCK_NOT_DRIVEN'> {
  /** The task. */ readonly taskId: string;
  constructor(taskId: string) {
    super(
      'CLOCK_NOT_DRIVEN',
      `task ${taskId} cannot end: nothing drives this clock: call drain or advance`,
    );
    this.taskId = taskId;
  }
}
