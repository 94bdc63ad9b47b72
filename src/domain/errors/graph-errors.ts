/** Errors about graphs and the runs that stand on them. */
import { messageOf } from '../../base/message-of.ts';
import { type Cause, type FailureType, failureTypeOf } from '../task/cause.ts';
import { groupText, shownNode } from '../task/node-name.ts';
import { CodedError, ownCode, shown } from './fairloom-error.ts';
import type { AskedWait } from './handler-errors.ts';

/** A graph cannot be read from the store; the code says why. */
export abstract class GraphStoreError extends CodedError<
  'GRAPH_NOT_FOUND' | 'GRAPH_EXPIRED' | 'GRAPH_EVICTED' | 'GRAPH_CORRUPT'
> {
  /** The graph's hash. */ readonly hash: string;
  constructor(code: GraphStoreError['code'], hash: string, problem: string) {
    super(code, `graph ${shown(hash)} ${problem}`);
    this.hash = hash;
  }
}

/** Whether a value is one of them, made by any copy of this package. */
export function isGraphStoreError(value: unknown): value is GraphStoreError {
  return String(ownCode(value)).startsWith('GRAPH_');
}

/** No graph of this hash was ever stored here, as far as the backend knows. */
export class GraphNotFoundError extends GraphStoreError {
  /** See `docs/errors.md`. */ declare readonly code: 'GRAPH_NOT_FOUND';
  /** The name of the class. */ declare readonly name: 'GraphNotFoundError';
  /** Whether the same call may succeed later. */ declare readonly retryable: true;
  constructor(hash: string) {
    super('GRAPH_NOT_FOUND', hash, 'was never stored here');
  }
}

/** The snapshot was not used for a day, and nothing needed it. */
export class GraphExpiredError extends GraphStoreError {
  /** See `docs/errors.md`. */ declare readonly code: 'GRAPH_EXPIRED';
  /** The name of the class. */ declare readonly name: 'GraphExpiredError';
  /** Whether the same call may succeed later. */ declare readonly retryable: false;
  constructor(hash: string) {
    super('GRAPH_EXPIRED', hash, 'was not used for a day and is gone');
  }
}

/** The server dropped the snapshot before its time: its memory is full. */
export class GraphEvictedError extends GraphStoreError {
  /** See `docs/errors.md`. */ declare readonly code: 'GRAPH_EVICTED';
  /** The name of the class. */ declare readonly name: 'GraphEvictedError';
  /** Whether the same call may succeed later. */ declare readonly retryable: false;
  constructor(hash: string) {
    super(
      'GRAPH_EVICTED',
      hash,
      'was dropped before its time; the server needs maxmemory-policy noeviction',
    );
  }
}

/** What is stored under a graph's hash is not that graph. */
export class GraphCorruptError extends GraphStoreError {
  /** See `docs/errors.md`. */ declare readonly code: 'GRAPH_CORRUPT';
  /** The name of the class. */ declare readonly name: 'GraphCorruptError';
  /** Whether the same call may succeed later. */ declare readonly retryable: false;
  constructor(hash: string, problem: string) {
    super('GRAPH_CORRUPT', hash, `is damaged: ${problem}`);
  }
}

/** A member of a group that did not finish, and why. */
export interface FailedMember {
  /** Its name in the group; its position in a tuple or an array. */ readonly member: string;
  /** What it failed with. */ readonly error: Error;
}

/** What the failed members of a group mean for the run that started it. */
export interface GroupSteering {
  /** Members that it has to have fail at every attempt. */ readonly isFinal: boolean;
  /** The longest that members asked for by `retryAfter`. */ readonly wait: AskedWait | undefined;
}

/** Too many members of a group, or one that had to, did not finish; `cause` is of the first of them. */
export class GroupFailedError extends CodedError<'GROUP_FAILED'> {
  /** The group's place in the graph. */ readonly group: string;
  /** Every member that did not finish. */ readonly failed: readonly FailedMember[];
  /** Members that it has to have threw `Fatal`, or what no retry helps: what ran the group fails for good. */
  readonly isFinal: boolean;
  /** How long members asked to wait by `retryAfter`, in ms, the longest; `undefined` when none did. */
  readonly delayMs: number | undefined;
  /** With `delayMs`: whether another attempt of what ran the group uses up one of its retries. */
  readonly countAttempt: boolean;
  constructor(
    group: string,
    failed: readonly FailedMember[],
    { isFinal, wait }: GroupSteering = { isFinal: false, wait: undefined },
  ) {
    const lines = failed.map(
      ({ member, error }) => `${member} (${error.name}: ${messageOf(error)})`,
    );
    const message = `${groupText(group)} failed: ${lines.join(', ') || 'its policy refused'}`;
    super(
      'GROUP_FAILED',
      message,
      failed[0] === undefined ? undefined : { cause: failed[0].error },
    );
    this.group = group;
    this.failed = failed;
    this.isFinal = isFinal;
    this.delayMs = wait?.delayMs;
    this.countAttempt = wait?.countAttempt ?? true;
  }
}

/** A run failed; message and `cause` are of the node which failed first. */
export class RunFailedError extends CodedError<'RUN_FAILED'> {
  /** The run. */ readonly runId: string;
  /** The node that failed, by its name in the graph; empty when the run itself did. */
  readonly node: string;
  /** The task that it was. */ readonly taskId: string;
  /** Why that did not finish; `Error.cause` is another thing. */ readonly why: Cause;
  /** In which way it failed, as `why` says. */ readonly failureType: FailureType;
  /** The class of what its handler threw. */ readonly errorName: string;
  constructor(runId: string, failure: NodeFailure) {
    const { node, taskId, why, error } = failure;
    const failureType = failureTypeOf(why) ?? 'error';
    // A run whose worker was lost, or that took too long, fails at no node.
    const where = node === '' ? `run ${runId}` : `node ${shown(shownNode(node))} of run ${runId}`;
    super('RUN_FAILED', `${where} failed (${failureType}): ${messageOf(error)}`, { cause: error });
    this.runId = runId;
    this.node = node;
    this.taskId = taskId;
    this.why = why;
    this.failureType = failureType;
    this.errorName = error.name;
  }
}

/** What {@link RunFailedError} tells of the node. */
export interface NodeFailure {
  /** Its name in the graph; empty for the run itself. */ readonly node: string;
  /** The task that it was. */ readonly taskId: string;
  /** Why. */ readonly why: Cause;
  /** What it failed with. */ readonly error: Error;
}
