/** What the port's listings and reports show; part of the port in `backend.ts`. */

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
  /** In force, after queue defaults and settings for all queues. */
  readonly settings: UserSettings;
  /**
   * Where each setting comes from: set for the user in this queue, for the user in all queues, for all
   * users of the queue, or the default.
   */
  readonly origins: SettingOrigins;
  /** Tasks in line, of all levels. */
  readonly queued: number;
  /**
   * Of its queued tasks: those that a worker came to which does not know their names, so that only workers
   * which know them ask for them. Absent when there are none.
   */
  readonly parked?: number;
  /** Per level, 1 to 6. */
  readonly levels: readonly number[];
  /** Started tasks. */
  readonly running: number;
  /** Scheduled and deferred. */
  readonly later: number;
  /** It has a task in line, and nothing holds it back. */
  readonly ready: boolean;
  /** Start tag minus the queue's virtual time, in turns of weight 1; ≥ 0 is ahead. */
  readonly ahead: number;
}

/** One page of a listing. */
export interface Page<T> {
  /** At most as many as were asked for; fewer where they weigh `LIMITS.pageBytes`. */
  readonly items: readonly T[];
  /** Give it back to get the next page; absent on the last. */
  readonly cursor?: string;
}

/** Which page to give. */
export interface PageRequest {
  /** Of the page before; absent for the first. */
  readonly cursor?: string;
  /** From 1 to `LIMITS.pageMax`. */
  readonly limit: number;
}

/** Which page of tasks to give. */
export interface TaskPageRequest extends PageRequest {
  /** With payloads and results, which may weigh a MiB each. Default: without. */
  readonly values?: boolean;
}

/** One queue: its settings and what is in it. */
export interface QueueInfo {
  /** The queue. */
  readonly queue: string;
  /** As they were set; absent fields have their defaults. */
  readonly settings: QueueSettings;
  /** Tasks by state. */
  readonly counts: Readonly<Record<TaskState, number>>;
  /** Failed tasks without those that only followed another that did not finish. */
  readonly deadLetters: number;
  /** Users with a task in line that nothing holds back. */
  readonly readyUsers: number;
  /** How many more slots would start a task at once. */
  readonly runnable: number;
}

/** What a worker says about itself. */
export interface WorkerSpec {
  /** Unique among live workers. */
  readonly id: string;
  /** The queues that it serves. */
  readonly queues: readonly string[];
  /** Task names that it has handlers for; of versions both `resize` and `resize@2`. */
  readonly names: readonly string[];
  /** Names that it knows as those of pipelines, which run as runs and never as one task; absent: none. */
  readonly pipelines?: readonly string[];
  /** Served first; absent together with `stealTargets`: unrestricted. */
  readonly assignedUsers?: readonly string[];
  /** Served when the assigned users have nothing; `any`: all others. */
  readonly stealTargets?: 'any' | readonly string[];
  /** Its slots: how many tasks it runs at once. */
  readonly concurrency: number;
  /** Host and pid, for people. */
  readonly host: string;
}

/** Why a worker registers. */
export interface Registration {
  /**
   * A worker begins, also under the id of one that has gone without a word: `startedAt` and the counts
   * of attempts begin anew. Absent: it goes on, if it is known.
   */
  readonly starts?: boolean;
  /**
   * Which of all workers that ever have this id it is: random, and the same for as long as it lives. The id of one that was
   * heard of within `LIMITS.workerIdMs` is refused to another.
   */
  readonly instance?: string;
}

/** A worker, and when it was last heard. */
export interface WorkerInfo extends WorkerSpec {
  /** When it started: its first registration that the backend remembers, in ms since the epoch. */
  readonly startedAt: number;
  /** When it last asked for anything, in ms since the epoch. */
  readonly lastSeenAt: number;
  /** Tasks under its leases. */
  readonly running: number;
  /** What became of its attempts since `startedAt`. */
  readonly attempts: WorkerAttempts;
}

/**
 * Attempts of one worker, by outcome. Attempts, not tasks: one that is retried counts each time. What was
 * canceled or given back, and a run that only waits, is none of these.
 */
export interface WorkerAttempts {
  /** It settled them, and their tasks finished. */
  readonly succeeded: number;
  /** It settled them as failed, those included that are retried. */
  readonly failed: number;
  /** Their leases ended before it settled them: it was stuck, cut off, or has died. */
  readonly lost: number;
}

/** Which tasks to list. */
export interface TaskFilter {
  /** `queued` is listed per user (`user` is required then). */
  readonly state: TaskState;
  /** Of this queue; absent: of any. */
  readonly queue?: string;
  /** Of this user; absent: of any. */
  readonly user?: string;
  /** With this name; absent: with any. */
  readonly name?: string;
  /** `failed` alone: of this error group; absent: of any, or of none. */
  readonly error?: string;
}

/** Failures that are alike: see `errorGroupOf`. */
export interface ErrorGroupFacts {
  /** Names it in filters. */
  readonly id: string;
  /** Failed tasks of it that are kept. */
  readonly failed: number;
  /** Attempts that have failed so since it is known, those included that were tried again. */
  readonly attempts: number;
  /** When the first of them failed, in ms since the epoch. */
  readonly firstAt: number;
  /** When the newest did. */
  readonly lastAt: number;
  /** The newest failed task; without any, the one whose attempt failed last, which may be gone. */
  readonly sample: string;
}

/** What `explain` and `position` reason about; gathered in one step. */
export interface TaskFacts {
  /** The task. */
  readonly record: TaskRecord;
  /** What the backend's clock showed. */
  readonly now: number;
  /**
   * What it still waits for. `foreign`: a task of that id is stored, but another user's, which it may
   * not depend on: it waits as for one that is missing.
   */
  readonly blockedBy: readonly {
    /** As in the task's `dependsOn`. */
    readonly id: string;
    /** `missing`: it was never stored, or it was removed. */
    readonly state: TaskState | 'missing' | 'foreign';
  }[];
  /** Its dependents: how many, and the first five; absent when there are none. */
  readonly dependents?: DependentPage;
  /** It is never leased. */
  readonly join?: true;
  /** `deferred`: a run that has given its lease up until others have ended. */
  readonly suspension?: {
    /** How many it waits for in all, those included that have ended. */
    readonly of: number;
    /** What wakes it. */
    readonly wakeOn: 'all' | 'failure';
    /** When it goes on at the latest. */
    readonly wakeAt?: number;
  };
  /** `deferred`: it has given its lease up until this has come. */
  readonly wait?: {
    /** What it waits for. */
    readonly for: WaitTarget;
    /** Since when, in ms since the epoch. */
    readonly since: number;
    /** When it goes on at the latest. */
    readonly wakeAt?: number;
  };
  /** What its handler had left of its `timeout` when it was suspended last; see `Suspension.timeLeft`. */
  readonly timeLeft?: string;
  /** The run that it was to be started for, and that has ended or is not stored. */
  readonly endedRun?: {
    /** The task of the run. */
    readonly id: string;
    /** `missing`: the run is not stored any more. */
    readonly state: EndState | 'missing';
  };
  /** The pause of its run, or of itself where it is a run: it is not started meanwhile. */
  readonly paused?: RunPause & {
    /** The task of the run. */
    readonly run: string;
  };
  /** Its user in its queue; absent when nothing is known of it there. */
  readonly user: UserInfo | undefined;
  /** Reached its rate until then. */
  readonly throttledUntil?: number;
  /** Its queue; absent when nothing is known of it. */
  readonly queue: QueueInfo | undefined;
  /** The queue has reached its rate until then. */
  readonly queueThrottledUntil?: number;
  /** Started tasks of the queue. */
  readonly queueRunning: number;
  /** `queued`: how many of its own level stand before it. */
  readonly ahead: number;
  /**
   * `queued`: a worker came to it that does not know its name. It keeps its place, but is asked for only by
   * workers that know it.
   */
  readonly parked?: true;
  /** Ready users of its queue whose turn comes before its user's. */
  readonly usersAhead: number;
  /** How its user's levels stand to each other, for the closed form of `position`. */
  readonly shares: {
    /** For how many turns of weight 1 each of the levels 1 to 5 has waited for its next one. */
    readonly waited: readonly number[];
    /** What the levels 1 to 5 weigh in its queue. */
    readonly weights: readonly number[];
  };
  /** Every worker that was heard of lately. */
  readonly liveWorkers: readonly WorkerInfo[];
}

/**
 * Ever accepted, ended well, failed, failed without following another, canceled, attempts retried, leases
 * lost, stolen turns.
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

/** Counts of everything. */
export interface Stats {
  /** Tasks by state. */
  readonly counts: Readonly<Record<TaskState, number>>;
  /** What has happened ever since. */
  readonly totals: Readonly<Record<Total, number>>;
}

/** What a check of every index found. */
export interface ReconcileReport {
  /** What was found and, when asked, repaired; one line each, at most 100. */
  readonly drift: readonly string[];
  /** Records that were looked at. */
  readonly checked: number;
  /** Faults that were repaired; 0 unless that was asked. */
  readonly repaired: number;
  /** Libraries of functions of other versions that the server keeps, or kept until the repair removed them. */
  readonly otherLibraries?: readonly string[];
}
