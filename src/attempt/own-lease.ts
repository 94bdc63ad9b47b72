/** What passes between an attempt and code of the engine's own that works under its lease. */

import type { Outcome } from '../domain/attempt/decider.ts';
import type { Decision, Leased, Suspension } from '../domain/port/backend.ts';
import type { Cause } from '../domain/task/cause.ts';
import type { Trace } from '../tracing/trace.ts';
import type { LeaseStreams } from './streams.ts';

/** What the engine's own code makes of a lease. */
export type OwnEnd =
  | { readonly type: 'settle'; readonly decision: Decision | Suspension }
  /** Left to the decider of the task. */
  | { readonly type: 'outcome'; readonly outcome: Outcome }
  /** The lease is not in force any more: nothing is settled. */
  | { readonly type: 'lost' };

/** What a handler that waits has written down, as far as its attempt must know it. */
export interface KeptJournal {
  /** Whether these are its fields: no other process has written any, except answers, which it takes in. */
  goesOnWith(fields: Readonly<Record<string, string>>): boolean;
}

/**
 * Groups of tasks that handlers wait for, by their fields in the journal: how to cancel what is open of one. With a
 * cause their task was canceled: only those that run are asked to end, since no other begins.
 */
export type OpenGroups = Map<string, (canceled?: Cause) => Promise<void>>;

/** The lease that the engine's own code works under. */
export interface OwnLease {
  /** In force now; another one after {@link OwnLease.suspend}. */
  readonly lease: Leased;
  readonly signal: AbortSignal;
  /** The backend said that it shall end: it need not wait for a heartbeat. */
  interrupt(why: { readonly type: 'cancel'; readonly cause: Cause }): void;
  readonly fencingToken: number;
  /** Of its task. */
  readonly streams: LeaseStreams;
  readonly trace: Trace;
  /** Those that are left when its task ends, were given up. */
  readonly openGroups: OpenGroups;
  /**
   * Gives the lease up while a handler waits, and keeps its stack. Fulfilled once this worker has leased the
   * task again and no other process has written to its journal meanwhile; rejects when the stack is not wanted
   * any more. `leftMs`: what the handler has left of a timeout that is not its task's.
   */
  suspend(suspension: Suspension, journal: KeptJournal, leftMs?: number): Promise<void>;
  /**
   * Ends the wait of a suspended handler early: fulfilled once it has a lease again, rejects as
   * {@link OwnLease.suspend} does; `undefined` when it has one.
   */
  recall(): Promise<void> | undefined;
}
