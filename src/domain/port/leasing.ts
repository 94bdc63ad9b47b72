/** Requests and answers of lease, settle and extend; part of the port in `backend.ts`. */

import type { AttemptSettings } from '../fairness/settings.ts';
import type { Cause } from '../task/cause.ts';
import type { ChannelRefusal, ChannelWrites } from '../task/channel.ts';
import type { DeadLetters } from '../task/dead-letter.ts';
import type { EndState, Level, TaskState } from '../task/task.ts';
import type { Wait } from '../task/wait.ts';
import type { XComWrite } from '../task/xcom.ts';

/** A queue that a worker serves, with its weight and the pass of the worker's own stride. */
export interface QueueShare {
  /** The queue. */
  readonly queue: string;
  /** Its claim on the worker's slots relative to its other queues. */
  readonly weight: number;
  /** The queue with the least pass is served first; it rises by 1/weight with each task. */
  readonly pass: number;
}

/** A worker asks for tasks. */
export interface LeaseRequest {
  /**
   * Unique per request, 8–32 characters of `[A-Za-z0-9]`; also the random part of the tokens. A repeated
   * request gets the leases that are still in force, in order of arrival.
   */
  readonly requestId: string;
  /** The worker; it must be registered. */
  readonly worker: string;
  /** Free slots, from 1 to `LIMITS.leaseBatch` (`settleLeaseBatch` inside a settle). */
  readonly limit: number;
  /** How long a lease holds without an extension, in ms; a setting of the queue overrides it. */
  readonly leaseMs: number;
  /** The queues that it serves now. */
  readonly queues: readonly QueueShare[];
  /**
   * Without a task to give: put the worker in line for a wake-up. With `'hand'`, `WorkerStore.waitForWork` may
   * answer with a task instead, which saves a round trip on some backends.
   */
  readonly wait: boolean | 'hand';
}

/** A task under a lease, with everything that its worker needs. */
export interface Leased {
  /** The task. */
  readonly id: string;
  /** Identifies this lease in later calls. */
  readonly token: string;
  /** Number of the attempt, from 1. */
  readonly attempt: number;
  /** Number of its leases that ended without an outcome. */
  readonly losses: number;
  /** When the lease ends unless it is extended, in ms since the epoch. */
  readonly leaseUntil: number;
  /** When it was given, in ms since the epoch. */
  readonly leasedAt: number;
  /** When the task was enqueued, in ms since the epoch. */
  readonly createdAt: number;
  /** Name of the task; it selects the handler. */
  readonly name: string;
  /** Queue of the task. */
  readonly queue: string;
  /** User of the task. */
  readonly user: string;
  /** Its priority, 1 to 6. */
  readonly level: Level;
  /** JSON text of its input. */
  readonly payload: string;
  /** JSON text, as {@link NewTask.options}. */
  readonly options: string;
  /** How often its handler has released it; these are no attempts. */
  readonly releases: number;
  /** Its leases were lost repeatedly: run it alone in its process; another loss fails it. */
  readonly alone: boolean;
  /**
   * The outcome of each task in its `dependsOn`, in that order, at the moment of the lease.
   */
  readonly upstreams: readonly UpstreamFact[];
  /**
   * On the first lease of a task with dependencies: ms between the end of the last one and the moment when
   * this task was queued.
   */
  readonly releasedMs?: number;
  /** Settings of its queue for attempts, at the moment of the lease; absent: none. */
  readonly attemptSettings?: AttemptSettings;
  /** Its run is paused; it only decides what follows from ended tasks: see {@link Suspension.decides}. */
  readonly paused?: true;
}

/** The outcome of a dependency of a leased task. */
export interface UpstreamFact {
  /** The upstream task. */
  readonly id: string;
  /** Its name; empty when it is not stored any more. */
  readonly name: string;
  /** Its end state; `missing` also while a redrive runs it again. */
  readonly state: EndState | 'missing';
  /** Its result as JSON text; absent without one, or when it exceeds the budget of the lease. */
  readonly result?: string;
  /** Its error as JSON text. */
  readonly error?: string;
  /** The result exceeds the budget of the lease: read it with `inspect.get`. */
  readonly cut: boolean;
}

/** Leased tasks, and when to ask again. */
export interface LeaseReply {
  /** Leases in the order of their turns; empty when no task may start now. */
  readonly leases: readonly Leased[];
  /** More may be left to lease or to tick: ask again at once. */
  readonly more: boolean;
  /** No waiting work falls due before this moment; it may be too early, never too late. Absent: none will. */
  readonly nextDueAt?: number;
  /** How long the worker may sleep if it got no task, in ms. */
  readonly waitMs: number;
  /** A schedule is due. */
  readonly schedulesDue: boolean;
  /** The moment of this step by the backend's clock. */
  readonly now: number;
  /** Tasks that this step, its settlements included, has failed without a settlement. */
  readonly deadLetters?: DeadLetters;
}

/** How a wait for work ends: there may be work, time has passed, or the lease of a task. */
export type WorkNotice = 'woken' | 'timeout' | Leased;

/** How an attempt ends. */
export type Decision =
  /** The task finishes with this result, as JSON text. */
  | { readonly type: 'finish'; readonly result: string }
  | {
      readonly type: 'retry';
      /** Time until the next attempt, in ms. */
      readonly delayMs: number;
      /** Why the attempt failed. */
      readonly cause: Cause;
      /** Its error as JSON text. */
      readonly error: string;
    }
  | {
      readonly type: 'dead-letter';
      /** Why there is no further attempt. */
      readonly cause: Cause;
      /** Its error as JSON text. */
      readonly error: string;
    }
  /** The task is canceled for this reason. */
  | { readonly type: 'cancel'; readonly cause: Cause }
  /** The task is released; this is no attempt. Without `delayMs` it returns to its place in line, else to the tail of its level when due. */
  | {
      readonly type: 'release';
      /** Time until it may start again, in ms. */
      readonly delayMs?: number;
      /** Why it is released. */
      readonly cause: Cause;
    };

/**
 * A leased task waits without a lease. This is no end of an attempt, resets its losses, and keeps its place in
 * line. It is woken when all of `waitFor` have ended, when the first of them ends without `finished` and `wakeOn`
 * is `failure`, when what `wait` names has come, or after `wakeAfterMs`. Ids that are not stored count as ended.
 */
export interface Suspension {
  /** Distinguishes it from decisions. */
  readonly type: 'suspend';
  /** Ids of tasks, at most `LIMITS.dependencies`; they replace those of an earlier suspension. */
  readonly waitFor: readonly string[];
  /** `all`: the last end wakes it; `failure`: also the first end that is not `finished`. */
  readonly wakeOn: 'all' | 'failure';
  /** Longest wait, in ms. */
  readonly wakeAfterMs?: number;
  /**
   * A signal, an event, an answer or a moment; `waitFor` is empty then. The cause of its waking is written to
   * its journal in the same step. A signal that came before wakes it at once.
   */
  readonly wait?: Wait;
  /**
   * The handler keeps running without a lease. Until the task is leased again its token is valid: its writes
   * count, and a decision ends the wait in the same step. A suspension that waits for nothing puts the task
   * back in line.
   */
  readonly attended?: true;
  /** With `attended`: the rest of the handler's `timeout`, stored for display. */
  readonly timeLeft?: string;
  /**
   * The task may end by what wakes it, without starting anything, so it is leased even while its run is paused,
   * until another settlement of it; after a release it is set aside when its turn comes. Not with `attended`.
   */
  readonly decides?: true;
}

/** A decision about one leased task. */
export interface Settlement {
  /** The task. */
  readonly id: string;
  /** Token of its lease. */
  readonly token: string;
  /** How the attempt ends. */
  readonly decision: Decision | Suspension;
  /** Writes of the attempt to channels: applied in the same step if the task finishes, else dropped. */
  readonly channel?: ChannelWrites;
  /** Values that the attempt pushed or deleted: likewise. */
  readonly xcom?: readonly XComWrite[];
}

/** Settlements of a worker, and optionally a request for the next tasks. */
export interface SettleRequest {
  /** The worker. */
  readonly worker: string;
  /** Settlements in the order in which they are applied. */
  readonly settlements: readonly Settlement[];
  /** Request for leases, answered after the settlements in the same step. */
  readonly lease?: LeaseRequest;
}

/** Answer to a settlement. */
export type SettleAnswer =
  | {
      readonly kind: 'ok';
      /** State of the task after it; `canceled` when a cancel came first. */
      readonly state: TaskState;
      /** This settlement was applied before: the request was sent again. */
      readonly repeated: boolean;
    }
  /** Its writes to channels cannot be stored: nothing has changed, and the lease is in force. */
  | { readonly kind: 'refused'; readonly refusal: ChannelRefusal }
  | { readonly kind: 'leaseLost' }
  | { readonly kind: 'notFound' };

/** Answers to a settle. */
export interface SettleReply {
  /** One answer for each settlement, in their order. */
  readonly answers: readonly SettleAnswer[];
  /** Present if leases were requested. */
  readonly lease?: LeaseReply;
}

/** Identifies a lease: a token is unique within its task only. */
export interface LeaseRef {
  /** The task. */
  readonly id: string;
  /** The lease. */
  readonly token: string;
}

/** Only what identifies a lease: a call about a lease carries no payload. */
export function refOf({ id, token }: LeaseRef): LeaseRef {
  return { id, token };
}

/** A worker extends its leases. */
export interface ExtendRequest {
  /** The worker. */
  readonly worker: string;
  /** How long the leases hold from now, in ms. */
  readonly leaseMs: number;
  /** Leases to extend. */
  readonly leases: readonly LeaseRef[];
}

/** Answer to an extension. */
export interface ExtendReply {
  /** In the order of the request: in force · in force, and a cancel is requested · lost to a sweep or an end. */
  readonly answers: readonly ('ok' | 'canceling' | 'lost')[];
  /** Leases that the worker's latest request got and that this request does not name. */
  readonly unknown: readonly LeaseRef[];
  /** The moment of this step by the backend's clock. */
  readonly now: number;
  /** A schedule is due. */
  readonly schedulesDue: boolean;
  /** Tasks that this step has failed, without a settlement. */
  readonly deadLetters?: DeadLetters;
}
