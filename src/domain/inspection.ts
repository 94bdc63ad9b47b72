/** What the port's listings and reports show; part of the port in `backend.ts`. */
import type { QueueSettings, UserSettings } from './settings.ts';
import type { TaskRecord, TaskState } from './task.ts';

/** One user in one queue. */
export interface UserInfo {
  readonly user: string;
  readonly queue: string;
  /** In force, after queue defaults and settings for all queues. */
  readonly settings: UserSettings;
  readonly queued: number;
  /** Per level, 1 to 6. */
  readonly levels: readonly number[];
  readonly running: number;
  /** Scheduled and deferred. */
  readonly later: number;
  readonly ready: boolean;
  /** Start tag minus the queue's virtual time, in turns of weight 1; ≥ 0 is ahead. */
  readonly ahead: number;
}

/** One page of a listing. */
export interface Page<T> {
  readonly items: readonly T[];
  /** Give it back to get the next page; absent on the last. */
  readonly cursor?: string;
}

/** Which page to give. */
export interface PageRequest {
  readonly cursor?: string;
  /** From 1 to `LIMITS.pageMax`. */
  readonly limit: number;
}

/** One queue: its settings and what is in it. */
export interface QueueInfo {
  readonly queue: string;
  readonly settings: QueueSettings;
  readonly counts: Readonly<Record<TaskState, number>>;
  readonly readyUsers: number;
  readonly runnable: number;
}

/** What a worker says about itself. */
export interface WorkerSpec {
  readonly id: string;
  readonly queues: readonly string[];
  /** Task names that it has handlers for. */
  readonly names: readonly string[];
  /** Served first; absent together with `stealTargets`: unrestricted. */
  readonly assignedUsers?: readonly string[];
  readonly stealTargets?: 'any' | readonly string[];
  readonly concurrency: number;
  /** Host and pid, for people. */
  readonly host: string;
}

/** A worker, and when it was last heard. */
export interface WorkerInfo extends WorkerSpec {
  readonly startedAt: number;
  readonly lastSeenAt: number;
  readonly running: number;
}

/** Which tasks to list. */
export interface TaskFilter {
  /** `queued` is listed per user (`user` is required then). */
  readonly state: TaskState;
  readonly queue?: string;
  readonly user?: string;
  readonly name?: string;
}

/** What `explain` and `position` reason about; gathered in one step. */
export interface TaskFacts {
  readonly record: TaskRecord;
  readonly now: number;
  readonly blockedBy: readonly { readonly id: string; readonly state: TaskState | 'missing' }[];
  readonly user: UserInfo | undefined;
  /** Reached its rate until then. */
  readonly throttledUntil?: number;
  readonly queue: QueueInfo | undefined;
  readonly queueThrottledUntil?: number;
  readonly queueRunning: number;
  /** `queued`: how many of its own level stand before it. */
  readonly ahead: number;
  /** Ready users of its queue whose turn comes before its user's. */
  readonly usersAhead: number;
  /** Virtual state of its user's levels, for the closed form of `position`. */
  readonly shares: {
    readonly v: number;
    readonly last: readonly number[];
    readonly tag: readonly number[];
    readonly weights: readonly number[];
  };
  readonly liveWorkers: readonly WorkerInfo[];
}

/** Counts of everything. */
export interface Stats {
  readonly counts: Readonly<Record<TaskState, number>>;
  /** Ever accepted, ended well, failed, canceled, attempts retried, leases lost, stolen turns. */
  readonly totals: Readonly<
    Record<'enqueued' | 'finished' | 'failed' | 'canceled' | 'retried' | 'lost' | 'stolen', number>
  >;
}

/** What a check of every index found. */
export interface ReconcileReport {
  /** What was found and, when asked, mended; one line each, at most 100. */
  readonly drift: readonly string[];
  readonly checked: number;
  readonly repaired: number;
}
