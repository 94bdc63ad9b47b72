import type { Logger } from '../base/logger.ts';
import type { Clock } from '../base/time.ts';
import type { ValueCodec } from '../codec/codec.ts';
import type { Decision, Leased, Suspension } from '../domain/port/backend.ts';
import type { Cause } from '../domain/task/cause.ts';
import type { Tracing } from '../tracing/trace.ts';
import type { TaskRun } from '../tracing/work.ts';
import type { SubRunner } from './attempt-context.ts';
import type { Deadlines } from './deadlines.ts';
import type { KeptJournal } from './own-lease.ts';
import type { TaskWrites } from './pending-writes.ts';
import type { StreamTools } from './streams.ts';

/** Why an attempt shall end before its handler does, the weightier last. */
export type Interruption =
  /** Its worker ends: unless it finishes all the same, it is given back uncounted. */
  | { readonly type: 'shutdown' }
  /** Its time is over. */
  | { readonly type: 'timeout' }
  /** Its end was requested: it ends as canceled, with any result. */
  | { readonly type: 'cancel'; readonly cause: Cause }
  /** It has no lease any more: its result will not be asked for. */
  | { readonly type: 'lost' };

/** Tools of an attempt, and the receiver of its outcome; `Attempt` is the attempt itself. */
export interface AttemptHost<Attempt> {
  readonly codec: ValueCodec;
  readonly log: Logger;
  readonly tracing: Tracing;
  readonly clock: Clock;
  readonly random: () => number;
  readonly deadlines: Deadlines;
  /** Makes the pending writes of its handlers. */
  readonly taskWrites: TaskWrites;
  /** Store what its handlers stream. */
  readonly streams: StreamTools;
  /** The run that a task belongs to; `undefined` when it stands alone. */
  runOf(lease: Leased): TaskRun | undefined;
  /** Runs steps for its handler. */
  runnerOf(attempt: Attempt): SubRunner;
  /** The decision is made: from now on the handler changes nothing. */
  decided(attempt: Attempt, decision: Decision | Suspension): void;
  /** The handler's promise has settled: its slot is free. */
  ended(attempt: Attempt): void;
  /** It waits for a group of its handler's: its slot is free, its handler is kept. */
  suspended(attempt: Attempt, suspension: Suspension, journal: KeptJournal): void;
  /** It is to have a lease again, though nothing has come that it waits for. */
  recalled(attempt: Attempt): void;
  /** Its handler has settled without a lease: whether that is all that the worker has to wait for. */
  endedSuspended(attempt: Attempt): boolean;
  /** A decider or backoff function of the user threw. */
  reportUserError(operation: string, error: unknown): void;
}
