import type { TaskError } from '../codec/task-error.ts';
import type { FairloomError } from '../domain/errors/errors.ts';
import { keysOf, type OptionKeys } from '../domain/errors/options.ts';
import type { Cause, FailureType } from '../domain/task/cause.ts';

/** Attempt of an event. */
export interface AttemptFacts {
  /** Id of the task. */
  readonly taskId: string;
  /** Name of the task. */
  readonly name: string;
  /** User of the task. */
  readonly user: string;
  /** Queue of the task. */
  readonly queue: string;
  /** Number of the attempt, from 1. */
  readonly attempt: number;
}

/** The events of one worker: each change of its attempts, once. */
export interface WorkerEvents {
  /**
   * The handler was called, `waitMs` after the task was enqueued. `releasedMs`, on the first lease
   * of a task with dependencies: from the end of the last of them until it was queued.
   */
  'task.started': AttemptFacts & {
    /** Time from its enqueue to its lease. */
    readonly waitMs: number;
    /** Time from the end of its last dependency until it was queued; on the first lease of a task with dependencies. */
    readonly releasedMs?: number;
  };
  /** The result is stored. */
  'task.finished': AttemptFacts & {
    /** Duration of the handler. */
    readonly ms: number;
  };
  /** The task has ended as a dead letter. */
  'task.failed': AttemptFacts & {
    /** Duration of the handler. */
    readonly ms: number;
    /** Kind of failure, see `cause`. */
    readonly failureType: FailureType;
    /** Cause of the failure, as data. */
    readonly cause: Cause;
    /** Error of its last attempt. */
    readonly error: TaskError;
  };
  /** The attempt failed; the task runs again after `delayMs`. */
  'task.retried': AttemptFacts & {
    /** Duration of the handler. */
    readonly ms: number;
    /** Time from the failure to the next start. */
    readonly delayMs: number;
    /** Cause of the retry, as data. */
    readonly cause: Cause;
    /** Error of the handler. */
    readonly error: TaskError;
  };
  /** The task has ended as canceled. */
  'task.canceled': AttemptFacts & {
    /** Duration of the handler. */
    readonly ms: number;
    /** Cause of the cancel. */
    readonly cause: Cause;
  };
  /** The task was released; this is no attempt. */
  'task.released': AttemptFacts & {
    /** Duration of the handler. */
    readonly ms: number;
    /** Cause of the release, as data. */
    readonly cause: Cause;
  };
  /** The lease ended before the handler did: its result is dropped. */
  'lease.lost': AttemptFacts;
  /** A slot of a schedule has stored a task, `lateMs` after it was due. */
  'schedule.fired': {
    /** Id of the schedule. */
    readonly schedule: string;
    /** Instant of the slot, in ms since the epoch. */
    readonly slot: number;
    /** Id of the task. */
    readonly taskId: string;
    /** Delay after the due time, in ms. */
    readonly lateMs: number;
  };
  /**
   * Slots without a task, from `slot` on: no scheduler fired them in time, or the task was refused
   * (`error`). `slots` is their number, counted up to 100.
   */
  'schedule.missed': {
    /** Id of the schedule. */
    readonly schedule: string;
    /** The first slot, in ms since the epoch. */
    readonly slot: number;
    /** Number of slots, counted up to 100. */
    readonly slots: number;
    /** Error of the refusal; absent when no scheduler ran in time. */
    readonly error?: FairloomError;
  };
  /** A slot stored no task, since the task `taskId` has not ended, or exists already. */
  'schedule.skipped': {
    /** Id of the schedule. */
    readonly schedule: string;
    /** Instant of the slot, in ms since the epoch. */
    readonly slot: number;
    /** Id of the task that has not ended, or that existed before. */
    readonly taskId: string;
    /** Which of the two it is. */
    readonly reason: 'overlap' | 'existing';
  };
  /** An operation failed; the worker continues. */
  'worker.error': {
    /** Name of the operation, as `settle` or `decider of send-mail`. */
    readonly operation: string;
    /** The error. */
    readonly error: unknown;
  };
  /** The backend has not answered for `silentMs`. */
  'worker.unhealthy': {
    /** Time since the latest answer, in ms. */
    readonly silentMs: number;
  };
  /** The backend answers again. */
  'worker.healthy': {
    /** Length of the outage, in ms. */
    readonly silentMs: number;
  };
  /** A handler blocked the event loop: leases cannot be extended meanwhile. Use `threadTask`. */
  'worker.blocked': {
    /** Length of the block, in ms. */
    readonly ms: number;
    /** Ids of the tasks whose handlers ran then. */
    readonly taskIds: readonly string[];
  };
  /** The worker is registered and leases. */
  'worker.started': {
    /** Id of the worker. */
    readonly worker: string;
  };
  /** `unfinished` are the tasks whose handlers did not end in time; others run them later. */
  'worker.stopped': {
    /** Id of the worker. */
    readonly worker: string;
    /** Ids of tasks whose handlers did not end in time; other workers run them later. */
    readonly unfinished: readonly string[];
  };
}

/** Names of all events. */
export const WORKER_EVENTS: OptionKeys<WorkerEvents> = keysOf<WorkerEvents>()({
  'task.started': true,
  'task.finished': true,
  'task.failed': true,
  'task.retried': true,
  'task.canceled': true,
  'task.released': true,
  'lease.lost': true,
  'schedule.fired': true,
  'schedule.missed': true,
  'schedule.skipped': true,
  'worker.error': true,
  'worker.unhealthy': true,
  'worker.healthy': true,
  'worker.blocked': true,
  'worker.started': true,
  'worker.stopped': true,
});
