import type { TaskError } from '../codec/task-error.ts';
import type { FairloomError } from '../domain/errors/errors.ts';
import { keysOf, type OptionKeys } from '../domain/errors/options.ts';
import type { Cause, FailureType } from '../domain/task/cause.ts';

/** Which attempt an event is about. */
export interface AttemptFacts {
  /** The task. */
  readonly taskId: string;
  /** Its name. */
  readonly name: string;
  /** Whose turn it was. */
  readonly user: string;
  /** Where it was in line. */
  readonly queue: string;
  /** From 1. */
  readonly attempt: number;
}

/** The events of one worker: everything that happens to its attempts, once each. */
export interface WorkerEvents {
  /**
   * The handler was called, `waitMs` after the task was enqueued. `releasedMs`, of the first lease
   * of a task that waited for others: from the end of the last of them until it was queued.
   */
  'task.started': AttemptFacts & {
    /** From its enqueue to its lease. */
    readonly waitMs: number;
    /** From the end of its last upstream until it was queued; at the first lease of one that waited. */
    readonly releasedMs?: number;
  };
  /** The result is stored. */
  'task.finished': AttemptFacts & {
    /** How long the handler ran. */
    readonly ms: number;
  };
  /** The task has ended as a dead letter. */
  'task.failed': AttemptFacts & {
    /** How long the handler ran. */
    readonly ms: number;
    /** In which way it failed, as `cause` says. */
    readonly failureType: FailureType;
    /** Why, as data. */
    readonly cause: Cause;
    /** What the handler threw in its last attempt. */
    readonly error: TaskError;
  };
  /** The attempt failed; the task runs again after `delayMs`. */
  'task.retried': AttemptFacts & {
    /** How long the handler ran. */
    readonly ms: number;
    /** From the failure to the next start. */
    readonly delayMs: number;
    /** Why, as data. */
    readonly cause: Cause;
    /** What the handler threw. */
    readonly error: TaskError;
  };
  /** The task has ended as canceled. */
  'task.canceled': AttemptFacts & {
    /** How long the handler ran. */
    readonly ms: number;
    /** Who wanted it so, or what ended before. */
    readonly cause: Cause;
  };
  /** The task was given back, not counted as an attempt. */
  'task.released': AttemptFacts & {
    /** How long the handler ran. */
    readonly ms: number;
    /** Why, as data. */
    readonly cause: Cause;
  };
  /** The lease ended before the handler did: its result is dropped. */
  'lease.lost': AttemptFacts;
  /** A slot of a schedule has made a task, `lateMs` after it was due. */
  'schedule.fired': {
    /** Its id. */
    readonly schedule: string;
    /** The instant that the schedule names, in ms since the epoch. */
    readonly slot: number;
    /** The task that was made. */
    readonly taskId: string;
    /** How long after the slot was due, in ms. */
    readonly lateMs: number;
  };
  /**
   * Slots that made no task, from `slot` on: no scheduler ran to fire them, or the task was refused (`error`).
   * `slots` is how many, counted up to 100.
   */
  'schedule.missed': {
    /** Its id. */
    readonly schedule: string;
    /** The first of them, in ms since the epoch. */
    readonly slot: number;
    /** How many, counted up to 100. */
    readonly slots: number;
    /** Why it was refused; absent when no scheduler ran in time. */
    readonly error?: FairloomError;
  };
  /** A slot made no task, since the task `taskId` has not ended, or stands for it already. */
  'schedule.skipped': {
    /** Its id. */
    readonly schedule: string;
    /** The instant that the schedule names, in ms since the epoch. */
    readonly slot: number;
    /** The task that has not ended, or that was there before. */
    readonly taskId: string;
    /** Which of the two it is. */
    readonly reason: 'overlap' | 'existing';
  };
  /** An operation failed; the worker goes on. */
  'worker.error': {
    /** What was tried, as `settle` or `decider of send-mail`. */
    readonly operation: string;
    /** What was thrown. */
    readonly error: unknown;
  };
  /** Nothing could be asked of the backend for `silentMs`. */
  'worker.unhealthy': {
    /** Since the latest answer, in ms. */
    readonly silentMs: number;
  };
  /** The backend answers again. */
  'worker.healthy': {
    /** How long it had been away, in ms. */
    readonly silentMs: number;
  };
  /** A handler held up the event loop: leases cannot be extended meanwhile. Use `threadTask`. */
  'worker.blocked': {
    /** How long the event loop stood still. */
    readonly ms: number;
    /** Those whose handlers were running then. */
    readonly taskIds: readonly string[];
  };
  /** The worker is registered and leases. */
  'worker.started': {
    /** Its id. */
    readonly worker: string;
  };
  /** `unfinished` are the tasks whose handlers did not end in time; others run them later. */
  'worker.stopped': {
    /** Its id. */
    readonly worker: string;
    /** Tasks whose handlers did not end in time; others run them later. */
    readonly unfinished: readonly string[];
  };
}

/** The names of all of them. */
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
