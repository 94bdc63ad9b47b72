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

/** Why an attempt must end before its handler does; later ones in the list take precedence. */
export type Interruption =
  /** Its worker shuts down: it is released uncounted, unless it finishes. */
  | { readonly type: 'shutdown' }
  /** Its timeout is over. */
  | { readonly type: 'timeout' }
  /** A cancel was requested: it ends as canceled, whatever its result. */
  | { readonly type: 'cancel'; readonly cause: Cause }
  /** Its lease is lost: its result is dropped. */
  | { readonly type: 'lost' };

/** Tools of an attempt, and the receiver of its outcome. `Attempt` is the type of the attempt. */
export interface AttemptHost<Attempt> {
  readonly codec: ValueCodec;
  readonly log: Logger;
  readonly tracing: Tracing;
  readonly clock: Clock;
  readonly random: () => number;
  readonly deadlines: Deadlines;
  /** Makes the pending writes of its handlers. */
  readonly taskWrites: TaskWrites;
  /** Stores the streams of its handlers. */
  readonly streams: StreamTools;
  /** The run of a task; `undefined` for a task outside a run. */
  runOf(lease: Leased): TaskRun | undefined;
  /** Runs steps for its handler. */
  runnerOf(attempt: Attempt): SubRunner;
  /** The decision is made: writes of the handler have no effect any more. */
  decided(attempt: Attempt, decision: Decision | Suspension): void;
  /** The handler's promise has settled: its slot is free. */
  ended(attempt: Attempt): void;
  /** The handler waits: its slot is free, and its stack is kept. */
  suspended(attempt: Attempt, suspension: Suspension, journal: KeptJournal): void;
  /** The handler needs a lease again before the end of its wait. */
  recalled(attempt: Attempt): void;
  /** Its handler has settled without a lease. @returns whether it was still suspended. */
  endedSuspended(attempt: Attempt): boolean;
  /** A decider or backoff function of the user threw. */
  reportUserError(operation: string, error: unknown): void;
}
