/** Puts a failed task back as soon as that can be. */
import type { Logger } from '../base/logger.ts';
import type { Backend, ChangeReply, EditedTask } from '../domain/port/backend.ts';
import { tickLogged } from '../logging/dead-letter-lines.ts';

/** Steps of maintenance for a task whose dependents are still being told of its end. */
const MOST_TICKS = 50;

/** Puts a task back, also one whose dependents are still being told of its end. */
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
