/** Puts a failed task back as soon as that can be. */
import type { Backend, ChangeReply, EditedTask } from '../../domain/port/backend.ts';

/** Steps of maintenance for a task whose dependents are still being told of its end. */
const MOST_TICKS = 50;

/** Puts a task back, also one whose dependents are still being told of its end. */
export async function redriven(
  tasks: Backend['tasks'],
  id: string,
  edited: EditedTask | undefined,
  failedBy: number | undefined,
): Promise<ChangeReply> {
  let reply = await tasks.redrive(id, edited, failedBy);
  for (let ticks = 0; reply.kind === 'busy' && ticks < MOST_TICKS; ticks++) {
    await tasks.tick();
    reply = await tasks.redrive(id, edited, failedBy);
  }
  return reply;
}
