/** Why a run has not ended, or how it did. */
import { errorOf, type TaskError } from '../../codec/task-error.ts';
import type { Explanation } from '../../domain/explain/explain.ts';
import { suggestion } from '../../domain/explain/suggestion.ts';
import { type Cause, failedNodeOf } from '../../domain/task/cause.ts';
import { type RunPause, readablePause } from '../../domain/task/pause.ts';
import { isEnd, type TaskRecord, type TaskState } from '../../domain/task/task.ts';
import type { RunView } from '../../runs/calls/run-view.ts';
import { nodeOf } from '../../runs/failure-cause.ts';

/** Why a run has not ended: the nodes on which it waits. */
export interface RunExplanation {
  /** The run. */
  readonly id: string;
  /** Where it stands. */
  readonly state: TaskState;
  /** How many nodes are in each state. */
  readonly counts: Readonly<Record<string, number>>;
  /**
   * Nodes, and members of groups, that wait for no other one of the run, each with its reason: a worker, a
   * slot, a signal, an answer, an event, a time; at most 20.
   */
  readonly waitsFor: readonly {
    /** Its name in the graph; empty: the run itself, where its own task waits. */
    readonly node: string;
    /** Of the task that runs the node. */
    readonly why: Explanation;
  }[];
  /** Of a run that did not finish: where that began, the first first; at most 20. */
  readonly causes: readonly RunCause[];
  /** It is paused: nothing of it is started meanwhile. */
  readonly paused?: RunPause;
  /** What helps a run on that has failed or is paused. */
  readonly command?: string;
}

/** A task at which a run began not to finish: it followed no other. */
export interface RunCause {
  /**
   * Its node, of a member with its name in the group, by the id in the graph: that of a group without a name is
   * `~group.a`, which texts call `group of a`. Empty for the run itself.
   */
  readonly node: string;
  /** For `loom.tasks`. */
  readonly taskId: string;
  /** The number of its newest attempt; 0: it was never started. */
  readonly attempt: number;
  /** Why, as data. */
  readonly cause?: Cause;
  /** What its newest attempt threw. */
  readonly error?: TaskError;
}

/** Nodes that an explanation names at most. */
const EXPLAINED = 20;

/** Explains a run; `explainTask` explains a task of it, `wayBack` says what helps one that has failed. */
export async function explainRun(
  view: RunView,
  explainTask: (id: string) => Promise<Explanation>,
  wayBack: (view: RunView) => Promise<string | undefined>,
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
  const cure = isPaused ? suggestion('runs resume', id) : await wayBack(view);
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
