import type { Cause } from './cause.ts';

/** A dead letter that no worker has decided on: its leases were lost, or its time is over. */
export interface DeadLetter {
  /** The task. */
  readonly id: string;
  /** Its name as it is stored. */
  readonly name: string;
  /** Where it was in line. */
  readonly queue: string;
  /** Whose it is. */
  readonly user: string;
  /** The last attempt that was begun, from 1; 0: none was. */
  readonly attempt: number;
  /** The run that it is a task of. */
  readonly run?: string;
  /** Why it has failed. */
  readonly cause: Cause;
}

/** Those of one step: the first of them, and how many there were besides. */
export interface DeadLetters {
  /** At most `STEPS.deadListed` of them. */
  readonly listed: readonly DeadLetter[];
  /** How many more there were. */
  readonly more: number;
}
