/** What a lease, a settle and an extend ask and answer; part of the port in `backend.ts`. */
import type { EndState, FailureType, TaskState } from './task.ts';

/** A queue that a worker serves, with its weight and the pass of the worker's own stride. */
export interface QueueShare {
  readonly queue: string;
  readonly weight: number;
  readonly pass: number;
}

/** A worker asks for tasks. */
export interface LeaseRequest {
  /** Unique per request, 8–32 characters of `[A-Za-z0-9]`; also the random part of the tokens. */
  readonly requestId: string;
  readonly worker: string;
  /** Free slots, from 1 to `LIMITS.leaseBatch` (`settleLeaseBatch` inside a settle). */
  readonly limit: number;
  readonly leaseMs: number;
  readonly queues: readonly QueueShare[];
  /** When nothing is given: stand in line for a wake-up. */
  readonly wait: boolean;
}

/** One task under a lease, with everything that its worker needs. */
export interface Leased {
  readonly id: string;
  readonly token: string;
  /** From 1. */
  readonly attempt: number;
  readonly losses: number;
  readonly leaseUntil: number;
  readonly leasedAt: number;
  readonly createdAt: number;
  readonly name: string;
  readonly queue: string;
  readonly user: string;
  readonly level: number;
  readonly payload: string;
  readonly options: string;
  /** How often its handler has given it back uncounted. */
  readonly releases: number;
  /** The last chance of a task whose leases keep getting lost: run it with nothing beside it. */
  readonly alone: boolean;
  readonly upstreams: readonly UpstreamFact[];
}

/** What became of a task that a leased one depended on. */
export interface UpstreamFact {
  readonly id: string;
  readonly name: string;
  readonly state: EndState | 'missing';
  /** JSON text; absent when there is none, or when it did not fit the lease's budget. */
  readonly result?: string;
  readonly error?: string;
  /** True when the result did not fit; `inspect.get` has it. */
  readonly cut: boolean;
}

/** The tasks that a worker was given, and when to ask again. */
export interface LeaseReply {
  readonly leases: readonly Leased[];
  /** Something may be left to lease or to tick: ask again at once. */
  readonly more: boolean;
  /** The least moment at which waiting work falls due, if any. */
  readonly nextDueAt?: number;
  /** How long this worker may sleep when it got nothing, in ms. */
  readonly waitMs: number;
  readonly now: number;
}

/** What becomes of a leased task. */
export type Decision =
  | { readonly type: 'finish'; readonly result: string }
  | {
      readonly type: 'retry';
      readonly delayMs: number;
      readonly reason: string;
      readonly error: string;
    }
  | {
      readonly type: 'dead-letter';
      readonly failureType: FailureType;
      readonly reason: string;
      readonly error: string;
    }
  | { readonly type: 'cancel'; readonly reason: string }
  /** Given back, not an attempt. Without `delayMs` to its old place in line, else to the tail of its level once due. */
  | { readonly type: 'release'; readonly delayMs?: number; readonly reason: string };

/** A decision about one leased task. */
export interface Settlement {
  readonly id: string;
  readonly token: string;
  readonly decision: Decision;
}

/** A worker settles, and may ask for the next tasks. */
export interface SettleRequest {
  readonly worker: string;
  readonly settlements: readonly Settlement[];
  readonly lease?: LeaseRequest;
}

/** Whether a settlement counted. */
export type SettleAnswer =
  | { readonly kind: 'ok'; readonly state: TaskState; readonly repeated: boolean }
  | { readonly kind: 'leaseLost' }
  | { readonly kind: 'notFound' };

/** The answers to a settle, in the order asked. */
export interface SettleReply {
  readonly answers: readonly SettleAnswer[];
  readonly lease?: LeaseReply;
}

/** Names one lease: a token is unique within its task only. */
export interface LeaseRef {
  readonly id: string;
  readonly token: string;
}

/** A worker that is still at it. */
export interface ExtendRequest {
  readonly worker: string;
  readonly leaseMs: number;
  readonly leases: readonly LeaseRef[];
}

/** Which leases are in force. */
export interface ExtendReply {
  /** In the order asked: in force · in force, and to be canceled · lost to a sweep or an end. */
  readonly answers: readonly ('ok' | 'canceling' | 'lost')[];
  /** Leases that this worker's latest request was given and that it did not ask to extend. */
  readonly unknown: readonly LeaseRef[];
  readonly now: number;
}
