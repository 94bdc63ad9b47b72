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
  'task.started': AttemptFacts & { readonly waitMs: number; readonly releasedMs?: number };
  /** The result is stored. */
  'task.finished': AttemptFacts & { readonly ms: number };
  /** The task has ended as a dead letter. */
  'task.failed': AttemptFacts & {
    readonly ms: number;
    /** In which way it failed, as `cause` says. */
    readonly failureType: FailureType;
    readonly cause: Cause;
    readonly error: TaskError;
  };
  /** The attempt failed; the task runs again after `delayMs`. */
  'task.retried': AttemptFacts & {
    readonly ms: number;
    readonly delayMs: number;
    readonly cause: Cause;
    readonly error: TaskError;
  };
  /** The task has ended as canceled. */
  'task.canceled': AttemptFacts & { readonly ms: number; readonly cause: Cause };
  /** The task was given back, not counted as an attempt. */
  'task.released': AttemptFacts & { readonly ms: number; readonly cause: Cause };
  /** The lease ended before the handler did: its result is dropped. */
  'lease.lost': AttemptFacts;
  /** A slot of a schedule has made a task, `lateMs` after it was due. */
  'schedule.fired': {
    readonly schedule: string;
    readonly slot: number;
    readonly taskId: string;
    readonly lateMs: number;
  };
  /**
   * Slots that made no task, from `slot` on: nobody was there to fire them, or the task was refused
   * (`error`). `slots` is how many, counted up to 100.
   */
  'schedule.missed': {
    readonly schedule: string;
    readonly slot: number;
    readonly slots: number;
    readonly error?: FairloomError;
  };
  /** A slot made no task, since the task `taskId` has not ended, or stands for it already. */
  'schedule.skipped': {
    readonly schedule: string;
    readonly slot: number;
    readonly taskId: string;
    readonly reason: 'overlap' | 'existing';
  };
  /** An operation failed; the worker goes on. */
  'worker.error': { readonly operation: string; readonly error: unknown };
  /** Nothing could be asked of the backend for `silentMs`. */
  'worker.unhealthy': { readonly silentMs: number };
  /** The backend answers again. */
  'worker.healthy': { readonly silentMs: number };
  /** A handler held up the event loop: leases cannot be extended meanwhile. Use `threadTask`. */
  'worker.blocked': { readonly ms: number; readonly taskIds: readonly string[] };
  /** The worker is registered and leases. */
  'worker.started': { readonly worker: string };
  /** `unfinished` are the tasks whose handlers did not end in time; others run them later. */
  'worker.stopped': { readonly worker: string; readonly unfinished: readonly string[] };
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
