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

/** What running a node needs of its process. */
export interface NodeTools {
  readonly clock: Clock;
  readonly random: () => number;
  readonly codec: ValueCodec;
  readonly xcom: XComValues;
  readonly log: Logger;
  readonly logErrors: boolean;
}

/** What is run, and for whom. */
export interface NodeCall {
  readonly definition: TaskDefinition;
  readonly handler: Handler;
  readonly plan: AttemptPlan;
  readonly payload: string;
  /** As the handler sees it. */
  readonly taskId: string;
  readonly user: string;
  /** Whose token may be another one after a wait, and whose task has the streams. */
  readonly holder: {
    readonly fencingToken: number;
    readonly streams: StreamOpener;
    /** See `OwnLease`; absent where nothing is leased. */
    recall?(): Promise<void> | undefined;
  };
  /** Of what it is a part. */
  readonly trace: Trace;
  /** Name of the node; absent for what is no part of a run. */
  readonly node: string | undefined;
  /** Aborts when the result is not wanted any more. */
  readonly signal: AbortSignal;
  /** Absent for what is no part of a stored run. */
  readonly runId: string | undefined;
  readonly runnerFor: SubRunners;
  /** Of the handler that it is run for, if there is one. */
  readonly outer?: TimeLimit | undefined;
  /** Of the run that it is a part of. */
  readonly channels: ChannelStore;
  /** What tells it from others that write to streams of the same task. */
  readonly writer: string;
  /** Absent for what is no part of a run. */
  readonly cycles: CycleFacts | undefined;
  /** Attempts that have failed elsewhere. */
  readonly failures: number;
  /** Times that the handler has given it back elsewhere. */
  readonly releases: number;
  /** Whether an aborted handler is waited for; what it gives all the same counts then. */
  readonly isPatient: boolean;
  /** Longest wait in place, in ms; a longer one ends as `left`. */
  readonly maxWaitMs: number;
}
