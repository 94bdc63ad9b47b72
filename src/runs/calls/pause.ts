/** Pauses a run: one flag of its own task, which the tasks of the run are asked about when their turn comes. */
import { mapInChunks } from '../../base/chunks.ts';
import { TaskNotFoundError, WrongStateError } from '../../domain/errors/errors.ts';
import type { RunPause } from '../../domain/task/pause.ts';
import { nodeScope, nodeTaskId } from '../record.ts';
import { RunView, type ViewParts } from './run-view.ts';

/** Tasks that are tied to their run at once. */
const AT_ONCE = 50;

/**
 * Pauses a run that has not ended. Members of driven runs have it as their owner, or the owner of their
 * owner; nodes of dispatched runs are tied to it now, so that runs that are never paused pay nothing.
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
    // What has ended for good is refused, and need not be held; what was removed neither.
    await mapInChunks(parts, AT_ONCE, (part) => runs.pausePart(part, id));
  }
  return reply.pause;
}

/** Ends the pause of a run: everything of it asks there. */
export async function endPause(parts: ViewParts, id: string): Promise<void> {
  const { runs } = await parts.connection.open();
  await runs.resume(id);
}

/** Its own nodes with handlers, stored from its start; results of other runs are none. */
async function partsOf(view: RunView): Promise<readonly string[]> {
  const { dispatch } = await view.known();
  const scope = nodeScope(view.place);
  // A group starts nothing: what its policy says of members that have ended is said during a pause too.
  const handled = dispatch.tasks.filter(({ kind }) => kind === 'task');
  return handled.map(({ id }) => nodeTaskId(scope, id));
}
