import type { SubRunners, TimeLimit } from '../../attempt/attempt-context.ts';
import type { AttemptPlan } from '../../attempt/attempt-plan.ts';
import type { ChannelStore } from '../../attempt/channels.ts';
import type { StreamOpener } from '../../attempt/streams.ts';
import type { XComValues } from '../../attempt/xcom.ts';
import type { Logger } from '../../base/logger.ts';
import type { Clock } from '../../base/time.ts';
import type { ValueCodec } from '../../codec/codec.ts';
import type { Trace } from '../../tracing/trace.ts';
import type { Handler, TaskDefinition } from '../../workflow/task-definition.ts';
import type { CycleFacts } from './dynamic-context.ts';

/** Parts of the process that run a node. */
export interface NodeTools {
  readonly clock: Clock;
  readonly random: () => number;
  readonly codec: ValueCodec;
  readonly xcom: XComValues;
  readonly log: Logger;
  readonly logErrors: boolean;
}

/** The node to run, and its context. */
export interface NodeCall {
  readonly definition: TaskDefinition;
  readonly handler: Handler;
  readonly plan: AttemptPlan;
  readonly payload: string;
  /** Id of the task that the handler sees. */
  readonly taskId: string;
  readonly user: string;
  /** The task that holds the lease; its token may change during a wait. It also has the streams. */
  readonly holder: {
    readonly fencingToken: number;
    readonly streams: StreamOpener;
    /** See `OwnLease`; absent without a lease. */
    recall?(): Promise<void> | undefined;
  };
  /** Parent of its span. */
  readonly trace: Trace;
  /** Name of the node; absent outside a run. */
  readonly node: string | undefined;
  /** Aborts when the result is not needed any more. */
  readonly signal: AbortSignal;
  /** Absent outside a stored run. */
  readonly runId: string | undefined;
  readonly runnerFor: SubRunners;
  /** Time limit of the handler that runs it, if there is one. */
  readonly outer?: TimeLimit | undefined;
  /** Channels of its run. */
  readonly channels: ChannelStore;
  /** Identifies it among the writers to streams of the same task. */
  readonly writer: string;
  /** Absent outside a run. */
  readonly cycles: CycleFacts | undefined;
  /** Number of attempts that failed under other leases. */
  readonly failures: number;
  /** Number of releases under other leases. */
  readonly releases: number;
  /** Whether to wait for an aborted handler; its value counts then. */
  readonly isPatient: boolean;
  /** Longest wait in place, in ms; a longer one ends as `left`. */
  readonly maxWaitMs: number;
}
