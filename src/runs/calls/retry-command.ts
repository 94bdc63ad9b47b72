/** Finds the command that repeats a failure: one that the run, or the task, does not refuse. */
import { isOwn, type WrongStateError } from '../../domain/errors/errors.ts';
import { suggestion } from '../../domain/explain/suggestion.ts';
import { isEnd, type TaskRecord } from '../../domain/task/task.ts';
import { allNodes, type TaskGraph } from '../../graph/graph.ts';
import { memberBlock } from '../driven/members.ts';
import { runPlaceOf } from '../record.ts';
import { resumeRefusal } from './resume.ts';
import { RunView, type ViewParts } from './run-view.ts';

/**
 * For a failed task: the command for its run, for the task whose handler runs it, or for itself.
 * `undefined` without one: its run ended otherwise, or is not stored.
 */
export async function retryCommand(
  parts: ViewParts,
  record: TaskRecord,
  whole: TaskRecord | undefined,
): Promise<string | undefined> {
  if (whole === undefined) return undefined;
  const view = await RunView.of(parts, whole);
  if (view !== undefined) return retryCommandOf(parts, view, record);
  return isOver(whole) ? undefined : suggestion('tasks redrive', whole.id);
}

/** The command for a run in which `record` failed. */
export async function retryCommandOf(
  parts: ViewParts,
  view: RunView,
  record: TaskRecord,
): Promise<string | undefined> {
  const { id, state } = view.root;
  if (state === 'finished') {
    // The run finished without the failed task, and a plain rerun would keep that.
    const from = startOf((await view.known()).graph, runPlaceOf(record.options)?.node ?? '');
    return from === undefined ? undefined : suggestion(`runs rerun --from ${from}`, id);
  }
  if (state === 'canceled') return suggestion('runs rerun', id);
  if (state !== 'failed') return suggestion('runs resume', id);
  const refusal = await resumeRefusal(parts, view);
  if (refusal === undefined) return suggestion('runs resume', id);
  if (isOwn<WrongStateError>(refusal, 'WRONG_STATE') && refusal.state === 'failed') {
    // It waits for a task outside the run.
    return suggestion('tasks explain', refusal.taskId);
  }
  return suggestion('runs rerun', id);
}

/** The task at which a rerun starts that repeats a part; for a member, its first task. */
function startOf(graph: TaskGraph, part: string): string | undefined {
  const nodes = [...allNodes(graph)];
  if (nodes.some(({ id, kind }) => id === part && kind === 'task')) return part;
  const block = memberBlock(graph, part);
  if (block === undefined) return undefined;
  for (const { id, kind } of allNodes(block)) if (kind === 'task') return id;
  return undefined;
}

function isOver({ state }: TaskRecord): boolean {
  return isEnd(state) && state !== 'failed';
}
