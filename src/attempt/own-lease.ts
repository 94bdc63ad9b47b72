/** Interface between an attempt and the engine's own code that runs under its lease. */

import type { Outcome } from '../domain/attempt/decider.ts';
import type { Decision, Leased, Suspension } from '../domain/port/backend.ts';
import type { Cause } from '../domain/task/cause.ts';
import type { Trace } from '../tracing/trace.ts';
import type { LeaseStreams } from './streams.ts';

/** How the engine's own code ends a lease. */
export type OwnEnd =
  | { readonly type: 'settle'; readonly decision: Decision | Suspension }
  /** The decider of the task decides. */
  | { readonly type: 'outcome'; readonly outcome: Outcome }
  /** The lease has ended: nothing is settled. */
  | { readonly type: 'lost' };

/** The journal of a waiting handler, as far as its attempt needs it. */
export interface KeptJournal {
  /** Whether no other process has changed the fields; answers do not count, and are copied. */
  matches(fields: Readonly<Record<string, string>>): boolean;
}

/**
 * Groups that handlers wait for, by their fields in the journal: each with a function that cancels its open
 * members. With a cause their task was canceled, and only running members are asked to end, since no others start.
 */
export type OpenGroups = Map<string, (canceled?: Cause) => Promise<void>>;

/** The lease for the engine's own code. */
export interface OwnLease {
  /** The current lease; it changes by {@link OwnLease.suspend}. */
  readonly lease: Leased;
  readonly signal: AbortSignal;
  /** A cancel in a reply of the backend: ends the attempt without the delay of a heartbeat. */
  interrupt(why: { readonly type: 'cancel'; readonly cause: Cause }): void;
  readonly fencingToken: number;
  /** Streams of its task. */
  readonly streams: LeaseStreams;
  readonly trace: Trace;
  /** Abandoned when its task ends. */
  readonly openGroups: OpenGroups;
  /**
   * Gives up the lease while a handler waits, and keeps its stack. Resolves when this worker has leased the
   * task again and no other process has written to its journal meanwhile; rejects when the stack is not needed
   * any more. `leftMs`: rest of a handler's timeout that is not the task's.
   */
  suspend(suspension: Suspension, journal: KeptJournal, leftMs?: number): Promise<void>;
  /**
   * Ends the wait of a suspended handler early: resolves when it has a lease again, rejects as
   * {@link OwnLease.suspend} does; `undefined` when it has one.
   */
  recall(): Promise<void> | undefined;
}
