/** Pauses a run: sets a flag at its own task, which is checked before each of its tasks starts. */
import { mapInChunks } from '../../base/chunks.ts';
import { TaskNotFoundError, WrongStateError } from '../../domain/errors/errors.ts';
import type { RunPause } from '../../domain/task/pause.ts';
import { nodeScope, nodeTaskId } from '../record.ts';
import { RunView, type ViewParts } from './run-view.ts';

/** Number of tasks that are linked to their run at once. */
const AT_ONCE = 50;

/**
 * Pauses a run that has not ended. Members of driven runs have it as owner, or as owner of their owner;
 * nodes of dispatched runs are linked now, so that runs without a pause have no cost.
 *
 * @throws see `Runs.pause`.
 */
export async function pauseRun(
  parts: ViewParts,
  id: string,
  reason: string | undefined,
): Promise<RunPause> {
  const view = await RunView.demand(parts, id);
  const { runs } = await parts.connection.open();
  const reply = await runs.pause(id, reason);
  if (reply.kind === 'not-found') throw new TaskNotFoundError(id);
  if (reply.kind === 'wrong-state') throw new WrongStateError('pause', id, reply.state);
  if (view.form === 'dispatched') {
    const parts = await partsOf(view);
    // Ended and removed tasks are refused; they need no pause.
    await mapInChunks(parts, AT_ONCE, (part) => runs.pausePart(part, id));
  }
  return reply.pause;
}

/** Ends the pause of a run: removes the flag. */
export async function endPause(parts: ViewParts, id: string): Promise<void> {
  const { runs } = await parts.connection.open();
  await runs.resume(id);
}

/** Its own nodes with handlers, except results of other runs. */
async function partsOf(view: RunView): Promise<readonly string[]> {
  const { dispatch } = await view.known();
  const scope = nodeScope(view.place);
  // A group runs no handler: it ends during a pause too.
  const handled = dispatch.tasks.filter(({ kind }) => kind === 'task');
  return handled.map(({ id }) => nodeTaskId(scope, id));
}
