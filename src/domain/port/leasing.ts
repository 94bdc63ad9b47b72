/** What a lease, a settle and an extend ask and answer; part of the port in `backend.ts`. */

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
  /** The least of several goes first; rises by 1/weight with each task. */
  readonly pass: number;
}

/** A worker asks for tasks. */
export interface LeaseRequest {
  /**
   * Unique per request, 8–32 characters of `[A-Za-z0-9]`; also the random part of the tokens. Sent
   * again it is answered with what still holds of what it was given, by arrival.
   */
  readonly requestId: string;
  /** Who asks; it must be registered. */
  readonly worker: string;
  /** Free slots, from 1 to `LIMITS.leaseBatch` (`settleLeaseBatch` inside a settle). */
  readonly limit: number;
  /** How long the worker may stay silent, in ms; a queue may say otherwise for its tasks. */
  readonly leaseMs: number;
  /** What it serves now. */
  readonly queues: readonly QueueShare[];
  /**
   * When nothing is given: stand in line for a wake-up. `'hand'`: and `WorkerStore.waitForWork` may bring a task in
   * its place, where a backend can spare a round trip so.
   */
  readonly wait: boolean | 'hand';
}

/** One task under a lease, with everything that its worker needs. */
export interface Leased {
  /** The task. */
  readonly id: string;
  /** Names this lease; every later call about it carries it. */
  readonly token: string;
  /** From 1. */
  readonly attempt: number;
  /** Leases of it that ended without an outcome. */
  readonly losses: number;
  /** When the lease ends unless it is extended, in ms since the epoch. */
  readonly leaseUntil: number;
  /** When it was given, in ms since the epoch. */
  readonly leasedAt: number;
  /** When the task was enqueued, in ms since the epoch. */
  readonly createdAt: number;
  /** Chooses the handler. */
  readonly name: string;
  /** Where it was in line. */
  readonly queue: string;
  /** Whose turn it was. */
  readonly user: string;
  /** Its priority, 1 to 6. */
  readonly level: Level;
  /** JSON text of its input. */
  readonly payload: string;
  /** JSON text, as {@link NewTask.options}. */
  readonly options: string;
  /** How often its handler has given it back uncounted. */
  readonly releases: number;
  /** The last chance of a task whose leases keep getting lost: run it with nothing beside it. */
  readonly alone: boolean;
  /**
   * What became of each task in its `dependsOn`, in that order, as it stood when this task's turn
   * came.
   */
  readonly upstreams: readonly UpstreamFact[];
  /**
   * First lease of a task that waited for others: how long after the end of the last one it was
   * queued, in ms.
   */
  readonly releasedMs?: number;
  /** What its queue said of attempts when the lease was given; absent: nothing. */
  readonly attemptSettings?: AttemptSettings;
  /** Its run is paused, and it is to decide what follows from what has ended: see {@link Suspension.decides}. */
  readonly paused?: true;
}

/** What became of a task that a leased one depended on. */
export interface UpstreamFact {
  /** The upstream task. */
  readonly id: string;
  /** Its name; empty when it is not stored any more. */
  readonly name: string;
  /** How it ended; `missing` also while it runs anew, since it was redriven. */
  readonly state: EndState | 'missing';
  /** JSON text; absent when there is none, or when it did not fit the lease's budget. */
  readonly result?: string;
  /** JSON text of what it failed with. */
  readonly error?: string;
  /** True when the result did not fit; `inspect.get` has it. */
  readonly cut: boolean;
}

/** The tasks that a worker was given, and when to ask again. */
export interface LeaseReply {
  /** In the order of their turns; empty when nothing may start now. */
  readonly leases: readonly Leased[];
  /** Something may be left to lease or to tick: ask again at once. */
  readonly more: boolean;
  /** No waiting work falls due before this moment, if any does; it may be told early, never late. */
  readonly nextDueAt?: number;
  /** How long this worker may sleep when it got nothing, in ms. */
  readonly waitMs: number;
  /** Some schedule is due. */
  readonly schedulesDue: boolean;
  /** What the backend's clock showed. */
  readonly now: number;
  /** Dead letters that this step, its settlements included, has made by itself. */
  readonly deadLetters?: DeadLetters;
}

/** How a wait for work ends: there may be some, there was none in time, or the lease of a task. */
export type WorkNotice = 'woken' | 'timeout' | Leased;

/** What becomes of a leased task. */
export type Decision =
  /** It is done, with this result as JSON text. */
  | { readonly type: 'finish'; readonly result: string }
  | {
      readonly type: 'retry';
      /** From now to the next attempt. */
      readonly delayMs: number;
      /** Why this attempt did not end it. */
      readonly cause: Cause;
      /** JSON text of what it failed with. */
      readonly error: string;
    }
  | {
      readonly type: 'dead-letter';
      /** Why there is no further attempt. */
      readonly cause: Cause;
      /** JSON text of what it failed with. */
      readonly error: string;
    }
  /** Its end is `canceled`, for this reason. */
  | { readonly type: 'cancel'; readonly cause: Cause }
  /** Given back, not an attempt. Without `delayMs` to its old place in line, else to the tail of its level once due. */
  | {
      readonly type: 'release';
      /** From now to its next start. */
      readonly delayMs?: number;
      /** Why it was given back. */
      readonly cause: Cause;
    };

/**
 * A task that waits: ends no attempt, forgives its losses, and keeps its place in line for when it is
 * woken, which is when all of `waitFor` have ended, when the first of them has not `finished` and
 * `wakeOn` says so, when what `wait` names has come, or after `wakeAfterMs`. Ids that are not stored
 * count as ended.
 */
export interface Suspension {
  /** Tells it from decisions. */
  readonly type: 'suspend';
  /** At most `LIMITS.dependencies`; replaces those of an earlier suspension. */
  readonly waitFor: readonly string[];
  /** What wakes it: the last end, or already the first of one that did not finish. */
  readonly wakeOn: 'all' | 'failure';
  /** In ms from now. */
  readonly wakeAfterMs?: number;
  /**
   * What it waits for that is no task; `waitFor` is empty then. The cause of its waking is written to
   * its journal in the same step; what has come before wakes it at once.
   */
  readonly wait?: Wait;
  /**
   * The handler goes on without a lease. Until the task is leased again its token speaks for it: what it
   * writes counts, and a decision takes the task out of its wait in the same step. A suspension for
   * nothing puts it back in line.
   */
  readonly attended?: true;
  /** With `attended`: what its handler has left of its `timeout`; kept as it is, for those who look. */
  readonly timeLeft?: string;
  /**
   * What wakes it may end it without any start, so it is leased also while its run is paused, until something
   * else is settled of it: a release sets it aside when its turn comes. Not with `attended`.
   */
  readonly decides?: true;
}

/** A decision about one leased task. */
export interface Settlement {
  /** The task. */
  readonly id: string;
  /** Of the lease that it was worked on under. */
  readonly token: string;
  /** What is to become of it. */
  readonly decision: Decision | Suspension;
  /** What the attempt wrote to channels: applied in the same step if the task finishes, else dropped. */
  readonly channel?: ChannelWrites;
  /** Values that it pushed or deleted: likewise. */
  readonly xcom?: readonly XComWrite[];
}

/** A worker settles, and may ask for the next tasks. */
export interface SettleRequest {
  /** Who settles. */
  readonly worker: string;
  /** In the order in which they are applied. */
  readonly settlements: readonly Settlement[];
  /** Asked after the settlements, in the same step. */
  readonly lease?: LeaseRequest;
}

/** Whether a settlement counted. */
export type SettleAnswer =
  | {
      readonly kind: 'ok';
      /** Where the task stands after it; `canceled` when a cancel was first. */
      readonly state: TaskState;
      /** It was settled by this before: the request was sent again. */
      readonly repeated: boolean;
    }
  /** What it wrote to channels cannot be stored: nothing has changed, and the lease is in force. */
  | { readonly kind: 'refused'; readonly refusal: ChannelRefusal }
  | { readonly kind: 'leaseLost' }
  | { readonly kind: 'notFound' };

/** The answers to a settle, in the order asked. */
export interface SettleReply {
  /** One for each settlement. */
  readonly answers: readonly SettleAnswer[];
  /** Present when it was asked for. */
  readonly lease?: LeaseReply;
}

/** Names one lease: a token is unique within its task only. */
export interface LeaseRef {
  /** The task. */
  readonly id: string;
  /** The lease. */
  readonly token: string;
}

/** No more of a lease than names it: what a task carries goes to the backend only where it is asked for. */
export function refOf({ id, token }: LeaseRef): LeaseRef {
  return { id, token };
}

/** A worker that is still at it. */
export interface ExtendRequest {
  /** Who works on them. */
  readonly worker: string;
  /** How long the leases hold from now, in ms. */
  readonly leaseMs: number;
  /** Those to extend. */
  readonly leases: readonly LeaseRef[];
}

/** Which leases are in force. */
export interface ExtendReply {
  /** In the order asked: in force · in force, and to be canceled · lost to a sweep or an end. */
  readonly answers: readonly ('ok' | 'canceling' | 'lost')[];
  /** Leases that this worker's latest request was given and that it did not ask to extend. */
  readonly unknown: readonly LeaseRef[];
  /** What the backend's clock showed. */
  readonly now: number;
  /** Some schedule is due. */
  readonly schedulesDue: boolean;
  /** Dead letters that this step has made by itself. */
  readonly deadLetters?: DeadLetters;
}
