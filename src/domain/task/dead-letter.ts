import type { Cause } from './cause.ts';

/** A dead letter that no worker decided: its leases were lost, or its time has passed. */
export interface DeadLetter {
  /** Id of the task. */
  readonly id: string;
  /** Stored name of the task. */
  readonly name: string;
  /** Queue of the task. */
  readonly queue: string;
  /** User of the task. */
  readonly user: string;
  /** Number of the last attempt, from 1; 0: none. */
  readonly attempt: number;
  /** Run of the task; absent without one. */
  readonly run?: string;
  /** Cause of the failure. */
  readonly cause: Cause;
}

/** Dead letters of one step. */
export interface DeadLetters {
  /** The first ones, at most `STEPS.deadListed`. */
  readonly listed: readonly DeadLetter[];
  /** Number of the others. */
  readonly more: number;
}
