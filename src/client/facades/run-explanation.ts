/** Why a run has not ended, or its outcome. */
import { errorOf, type TaskError } from '../../codec/task-error.ts';
import type { Explanation } from '../../domain/explain/explain.ts';
import { suggestion } from '../../domain/explain/suggestion.ts';
import { type Cause, failedNodeOf } from '../../domain/task/cause.ts';
import { type RunPause, readablePause } from '../../domain/task/pause.ts';
import { isEnd, type TaskRecord, type TaskState } from '../../domain/task/task.ts';
import type { RunView } from '../../runs/calls/run-view.ts';
import { nodeOf } from '../../runs/failure-cause.ts';

/** Why a run has not ended: the nodes that it waits for. */
export interface RunExplanation {
  /** Id of the run. */
  readonly id: string;
  /** State of the run. */
  readonly state: TaskState;
  /** Number of nodes in each state. */
  readonly counts: Readonly<Record<string, number>>;
  /**
   * Nodes and members of groups that wait for no other one of the run, each with its reason: a
   * worker, a slot, a signal, an answer, an event, a time; at most 20.
   */
  readonly waitsFor: readonly {
    /** Name in the graph; empty: the run itself, if its own task waits. */
    readonly node: string;
    /** Explanation of the node's task. */
    readonly why: Explanation;
  }[];
  /** First failures or cancels of a run that did not finish, the earliest first; at most 20. */
  readonly causes: readonly RunCause[];
  /** Pause of the run; none of its tasks starts. */
  readonly paused?: RunPause;
  /** Command that resumes a failed or paused run. */
  readonly command?: string;
}

/** A task that failed or was canceled first, not because of another one. */
export interface RunCause {
  /**
   * Id of its node in the graph, for a member with its name in the group; a group without a name
   * has an id such as `~group.a`, which texts call `group of a`. Empty for the run itself.
   */
  readonly node: string;
  /** Id of the task. */
  readonly taskId: string;
  /** Number of its latest attempt; 0: it was never started. */
  readonly attempt: number;
  /** Its cause, as data. */
  readonly cause?: Cause;
  /** Error of its latest attempt. */
  readonly error?: TaskError;
}

/** Most nodes that an explanation names. */
const EXPLAINED = 20;

/** Explains a run; `explainTask` explains one task of it, `retryCommand` finds the command for a failed one. */
export async function explainRun(
  view: RunView,
  explainTask: (id: string) => Promise<Explanation>,
  retryCommand: (view: RunView) => Promise<string | undefined>,
): Promise<RunExplanation> {
  const nodes = await view.nodes();
  const counts: Record<string, number> = {};
  for (const { state } of nodes) counts[state] = (counts[state] ?? 0) + 1;
  const waitsFor: { readonly node: string; readonly why: Explanation }[] = [];
  const waitingOutside = isEnd(view.root.state) ? [] : await view.waitingOutside();
  for (const { node, record } of waitingOutside.slice(0, EXPLAINED)) {
    waitsFor.push({ node, why: await explainTask(record.id) });
  }
  if (view.form === 'driven' && !isEnd(view.root.state)) {
    waitsFor.push({ node: '', why: await explainTask(view.root.id) });
  }
  const { id, state } = view.root;
  const culprits = isEnd(state) && state !== 'finished' ? await view.culprits() : [];
  const causes = culprits.slice(0, EXPLAINED).map(causeIn);
  const { paused } = view.root;
  const isPaused = paused !== undefined;
  const cure = isPaused ? suggestion('runs resume', id) : await retryCommand(view);
  const pause = isPaused ? { paused: readablePause(paused) } : {};
  return {
    id,
    state,
    counts,
    waitsFor,
    causes,
    ...pause,
    ...(cure === undefined ? {} : { command: cure }),
  };
}

function causeIn(record: TaskRecord): RunCause {
  const { id: taskId, failures: attempt, cause } = record;
  const error = errorOf(record.error);
  const node = failedNodeOf(cause) ?? nodeOf(record);
  return {
    node,
    taskId,
    attempt,
    ...(cause === undefined ? {} : { cause }),
    ...(error === undefined ? {} : { error }),
  };
}
