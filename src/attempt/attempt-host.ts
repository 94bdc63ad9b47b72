import type { Logger } from '../base/logger.ts';
import type { ValueCodec } from '../codec/codec.ts';
import type { Decision, Suspension } from '../domain/port/backend.ts';
import type { Tracing } from '../tracing/trace.ts';
import type { SubRunner } from './attempt-context.ts';
import type { KeptJournal } from './own-lease.ts';
import type { WriteBooks } from './write-book.ts';

/** What an attempt needs of its worker; `Attempt` is the attempt itself. */
export interface AttemptHost<Attempt> {
  readonly codec: ValueCodec;
  readonly log: Logger;
  readonly tracing: Tracing;
  /** Make the books of its handlers. */
  readonly books: WriteBooks;
  random(): number;
  /** Ms since the epoch, for how long the attempt took. */
  now(): number;
  setDeadline(attempt: Attempt, ms: number, now: number): void;
  clearDeadline(attempt: Attempt): void;
  /** The decision is made: from now on the handler changes nothing. */
  decided(attempt: Attempt, decision: Decision | Suspension): void;
  /** The handler's promise has settled: its slot is free. */
  ended(attempt: Attempt): void;
  /** It waits for a group of its handler's: its slot is free, its stack is kept. */
  parked(attempt: Attempt, suspension: Suspension, journal: KeptJournal): void;
  /** Its handler has settled without a lease. */
  unparked(attempt: Attempt): void;
  /** Runs steps for its handler. */
  runnerOf(attempt: Attempt): SubRunner;
  /** A decider or backoff function of the user threw. */
  misbehaved(operation: string, error: unknown): void;
}
