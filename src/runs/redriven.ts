/** Redrives a failed task as soon as possible. */
import type { Logger } from '../base/logger.ts';
import type { Backend, ChangeReply, EditedTask } from '../domain/port/backend.ts';
import { tickLogged } from '../logging/dead-letter-lines.ts';

/** Limit of maintenance steps while the end of a task is passed on to its dependents. */
const MOST_TICKS = 50;

/** Redrives a task, even while its end is still passed on to its dependents. */
export async function redriven(
  { tasks, log }: { readonly tasks: Backend['tasks']; readonly log: Logger },
  id: string,
  edited: EditedTask | undefined,
  failedBy: number | undefined,
): Promise<ChangeReply> {
  let reply = await tasks.redrive(id, edited, failedBy);
  for (let ticks = 0; reply.kind === 'busy' && ticks < MOST_TICKS; ticks++) {
    await tickLogged(tasks, log);
    reply = await tasks.redrive(id, edited, failedBy);
  }
  return reply;
}
