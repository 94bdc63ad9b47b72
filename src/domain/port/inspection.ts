/** Rows of listings and reports; part of the port in `backend.ts`. */

import type { QueueSettings, SettingOrigins, UserSettings } from '../fairness/settings.ts';
import type { DependentPage } from '../task/dependents.ts';
import type { RunPause } from '../task/pause.ts';
import type { EndState, TaskRecord, TaskState } from '../task/task.ts';
import type { WaitTarget } from '../task/wait.ts';

/** One user in one queue. */
export interface UserInfo {
  /** The user. */
  readonly user: string;
  /** The queue. */
  readonly queue: string;
  /** Settings in force, after queue defaults and settings for all queues. */
  readonly settings: UserSettings;
  /**
   * Source of each setting: the user in this queue, the user in all queues, all users of the queue, or the
   * default.
   */
  readonly origins: SettingOrigins;
  /** Queued tasks of all levels. */
  readonly queued: number;
  /**
   * Queued tasks that were offered to a worker without their handlers; now they are offered only to workers that
   * know their names. Absent when there are none.
   */
  readonly parked?: number;
  /** Queued tasks by level, 1 to 6. */
  readonly levels: readonly number[];
  /** Started tasks. */
  readonly running: number;
  /** Scheduled and deferred tasks. */
  readonly later: number;
  /** It has a queued task, and no limit holds it back. */
  readonly ready: boolean;
  /** Start tag minus the queue's virtual time, in turns of weight 1; ≥ 0 is ahead. */
  readonly ahead: number;
}

/** One page of a listing. */
export interface Page<T> {
  /** At most as many as requested; fewer where they reach `LIMITS.pageBytes`. */
  readonly items: readonly T[];
  /** Request the next page with it; absent on the last page. */
  readonly cursor?: string;
}

/** Request for a page. */
export interface PageRequest {
  /** Cursor of the page before; absent for the first page. */
  readonly cursor?: string;
  /** From 1 to `LIMITS.pageMax`. */
  readonly limit: number;
}

/** Request for a page of tasks. */
export interface TaskPageRequest extends PageRequest {
  /** With payloads and results, up to a MiB each. Default: false. */
  readonly values?: boolean;
}

/** A queue: its settings and counts. */
export interface QueueInfo {
  /** The queue. */
  readonly queue: string;
  /** Settings; absent fields have their defaults. */
  readonly settings: QueueSettings;
  /** Tasks by state. */
  readonly counts: Readonly<Record<TaskState, number>>;
  /** Failed tasks, without those that failed because a dependency did not finish. */
  readonly deadLetters: number;
  /** Users with a queued task that no limit holds back. */
  readonly readyUsers: number;
  /** How many tasks would start at once if there were slots. */
  readonly runnable: number;
}

/** A worker as it registers. */
export interface WorkerSpec {
  /** Unique among live workers. */
  readonly id: string;
  /** The queues that it serves. */
  readonly queues: readonly string[];
  /** Task names that it has handlers for; of versions both `resize` and `resize@2`. */
  readonly names: readonly string[];
  /** Names of its pipelines, which run as runs and never as one task; absent: none. */
  readonly pipelines?: readonly string[];
  /** Users that it serves first; without these and `stealTargets` it serves all. */
  readonly assignedUsers?: readonly string[];
  /** Users that it serves when its assigned users have no task; `any`: all others. */
  readonly stealTargets?: 'any' | readonly string[];
  /** Its slots: how many tasks it runs at once. */
  readonly concurrency: number;
  /** Host and process id, for display. */
  readonly host: string;
}

/** How a worker registers. */
export interface Registration {
  /**
   * True: the worker starts, and `startedAt` and its counts of attempts begin anew, even if another worker died
   * under this id. Absent: it continues, if it is known.
   */
  readonly starts?: boolean;
  /**
   * Random id of this instance of the worker, constant while it lives. While an instance was seen within
   * `LIMITS.workerIdMs`, another one with the same worker id is refused.
   */
  readonly instance?: string;
}

/** A worker as it is stored. */
export interface WorkerInfo extends WorkerSpec {
  /** Its first known registration, in ms since the epoch. */
  readonly startedAt: number;
  /** Its latest call, in ms since the epoch. */
  readonly lastSeenAt: number;
  /** Tasks under its leases. */
  readonly running: number;
  /** Outcomes of its attempts since `startedAt`. */
  readonly attempts: WorkerAttempts;
}

/**
 * Attempts of one worker, by outcome. A retried task counts each time. Canceled and released tasks, and runs that
 * only wait, are not counted.
 */
export interface WorkerAttempts {
  /** The worker settled them, and their tasks finished. */
  readonly succeeded: number;
  /** The worker settled them as failed, including those that are retried. */
  readonly failed: number;
  /** Their leases ended before a settlement: the worker was blocked, disconnected or dead. */
  readonly lost: number;
}

/** Filter of a list of tasks. */
export interface TaskFilter {
  /** `queued` is listed per user (`user` is required then). */
  readonly state: TaskState;
  /** Queue; absent: any. */
  readonly queue?: string;
  /** User; absent: any. */
  readonly user?: string;
  /** Name; absent: any. */
  readonly name?: string;
  /** With `failed` only: id of an error group; absent: any or none. */
  readonly error?: string;
}

/** A group of equal failures: see `errorGroupOf`. */
export interface ErrorGroupFacts {
  /** Its id in filters. */
  readonly id: string;
  /** Number of kept failed tasks. */
  readonly failed: number;
  /** Number of failed attempts since the group is known, including retried ones. */
  readonly attempts: number;
  /** First failure, in ms since the epoch. */
  readonly firstAt: number;
  /** Latest failure, in ms since the epoch. */
  readonly lastAt: number;
  /** Id of the latest failed task; without one, of the task whose attempt failed last, which may be removed. */
  readonly sample: string;
}

/** Input of `explain` and `position`, read in one step. */
export interface TaskFacts {
  /** The task. */
  readonly record: TaskRecord;
  /** The moment of this step by the backend's clock. */
  readonly now: number;
  /**
   * Dependencies that it waits for. `foreign`: the id belongs to a task of another user, which it may not depend
   * on: it waits as for a missing one.
   */
  readonly blockedBy: readonly {
    /** As in the task's `dependsOn`. */
    readonly id: string;
    /** `missing`: it was never stored, or it was removed. */
    readonly state: TaskState | 'missing' | 'foreign';
  }[];
  /** Number of its dependents, and the first five; absent without any. */
  readonly dependents?: DependentPage;
  /** It is a join, which is never leased. */
  readonly join?: true;
  /** `deferred`: a run that waits for other tasks without a lease. */
  readonly suspension?: {
    /** Number of tasks that it waits for, including ended ones. */
    readonly of: number;
    /** What wakes it. */
    readonly wakeOn: 'all' | 'failure';
    /** When it goes on at the latest. */
    readonly wakeAt?: number;
  };
  /** `deferred`: it waits for this without a lease. */
  readonly wait?: {
    /** What it waits for. */
    readonly for: WaitTarget;
    /** Begin of the wait, in ms since the epoch. */
    readonly since: number;
    /** When it goes on at the latest. */
    readonly wakeAt?: number;
  };
  /** Rest of its handler's `timeout` at its latest suspension; see `Suspension.timeLeft`. */
  readonly timeLeft?: string;
  /** The run that owns it, if that has ended or is not stored. */
  readonly endedRun?: {
    /** The task of the run. */
    readonly id: string;
    /** `missing`: the run is not stored any more. */
    readonly state: EndState | 'missing';
  };
  /** The pause of its run, or of itself if it is a run: it does not start meanwhile. */
  readonly paused?: RunPause & {
    /** The task of the run. */
    readonly run: string;
  };
  /** Its user in its queue; absent if not stored. */
  readonly user: UserInfo | undefined;
  /** Its user's rate is used up until this moment. */
  readonly throttledUntil?: number;
  /** Its queue; absent if not stored. */
  readonly queue: QueueInfo | undefined;
  /** Its queue's rate is used up until this moment. */
  readonly queueThrottledUntil?: number;
  /** Number of started tasks of the queue. */
  readonly queueRunning: number;
  /** `queued`: number of tasks before it in its level. */
  readonly ahead: number;
  /**
   * `queued`: it was offered to a worker without a handler for it. It keeps its place, and is offered only to workers
   * that know its name.
   */
  readonly parked?: true;
  /** Number of ready users of its queue whose turn comes before its user's. */
  readonly usersAhead: number;
  /** State of its user's levels, for `position`. */
  readonly shares: {
    /** How long each of the levels 1 to 5 has waited, in turns of weight 1. */
    readonly waited: readonly number[];
    /** Weights of the levels 1 to 5 in its queue. */
    readonly weights: readonly number[];
  };
  /** Live workers. */
  readonly liveWorkers: readonly WorkerInfo[];
}

/**
 * Accepted, finished, failed, failed for a reason of their own, canceled, attempts retried, leases lost, turns
 * stolen; each since the begin.
 */
export type Total =
  | 'enqueued'
  | 'finished'
  | 'failed'
  | 'deadLetters'
  | 'canceled'
  | 'retried'
  | 'lost'
  | 'stolen';

/** Counts over all queues. */
export interface Stats {
  /** Tasks by state. */
  readonly counts: Readonly<Record<TaskState, number>>;
  /** Events since the begin. */
  readonly totals: Readonly<Record<Total, number>>;
}

/** Result of a check of all indexes. */
export interface ReconcileReport {
  /** Faults, and with `repair` their repairs; one line each, at most 100. */
  readonly drift: readonly string[];
  /** Number of records that were checked. */
  readonly checked: number;
  /** Number of repaired faults; 0 without `repair`. */
  readonly repaired: number;
  /** Libraries of functions of other versions on the server; with `repair` they are removed. */
  readonly otherLibraries?: readonly string[];
}
