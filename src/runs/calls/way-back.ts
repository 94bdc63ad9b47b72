/** Which command does again what has failed: one that the run, or the task, does not refuse. */
import { isOwn, type WrongStateError } from '../../domain/errors/errors.ts';
import { suggestion } from '../../domain/explain/suggestion.ts';
import { isEnd, type TaskRecord } from '../../domain/task/task.ts';
import { allNodes, type TaskGraph } from '../../graph/graph.ts';
import { memberBlock } from '../driven/members.ts';
import { runPlaceOf } from '../record.ts';
import { resumeRefusal } from './resume.ts';
import { RunView, type ViewParts } from './run-view.ts';

/**
 * For a failed task and what it is a part of: its run, the task whose handler has run it, or itself.
 * `undefined` when nothing brings it back: its whole has ended otherwise, or is not stored.
 */
export async function wayBack(
  parts: ViewParts,
  record: TaskRecord,
  whole: TaskRecord | undefined,
): Promise<string | undefined> {
  if (whole === undefined) return undefined;
  const view = await RunView.of(parts, whole);
  if (view !== undefined) return wayBackOf(parts, view, record);
  return isOver(whole) ? undefined : suggestion('tasks redrive', whole.id);
}

/** Of a run, in which `record` has failed. */
export async function wayBackOf(
  parts: ViewParts,
  view: RunView,
  record: TaskRecord,
): Promise<string | undefined> {
  const { id, state } = view.root;
  if (state === 'finished') {
    // It did without what has failed: a rerun would take that over.
    const from = startOf((await view.known()).graph, runPlaceOf(record.options)?.node ?? '');
    return from === undefined ? undefined : suggestion(`runs rerun --from ${from}`, id);
  }
  if (state === 'canceled') return suggestion('runs rerun', id);
  if (state !== 'failed') return suggestion('runs resume', id);
  const refusal = await resumeRefusal(parts, view);
  if (refusal === undefined) return suggestion('runs resume', id);
  if (isOwn<WrongStateError>(refusal, 'WRONG_STATE') && refusal.state === 'failed') {
    // It waits for a task of others.
    return suggestion('tasks explain', refusal.taskId);
  }
  return suggestion('runs rerun', id);
}

/** The task at which a rerun begins that is to do a part again; of a member the first of its group. */
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
