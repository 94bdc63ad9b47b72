import type { Logger } from '../base/logger.ts';
import type { TaskStore, TickReply } from '../domain/port/backend.ts';
import { causeText, failureTypeOf } from '../domain/task/cause.ts';
import type { DeadLetter, DeadLetters } from '../domain/task/dead-letter.ts';
import { shownTask } from '../domain/task/node-name.ts';
import { nameIn } from '../domain/task/task-name.ts';
import { say } from './log-events.ts';

/** Runs a step of maintenance, and logs the dead letters that it makes. */
export async function tickLogged(tasks: TaskStore, log: Logger): Promise<TickReply> {
  const reply = await tasks.tick();
  if (reply.deadLetters !== undefined) logDeadLetters(log, reply.deadLetters);
  return reply;
}

/** Logs each dead letter of a step that no worker decided, with its cause. */
export function logDeadLetters(log: Logger, letters: DeadLetters): void {
  for (const letter of letters.listed) logDeadLetter(log, letter);
  const { more } = letters;
  if (more > 0)
    say(log, 'task.failed-more', `${more} more tasks failed in the same step`, { more });
}

function logDeadLetter(log: Logger, letter: DeadLetter): void {
  const { id: task, user, queue, attempt, run, cause } = letter;
  const name = nameIn(letter.name);
  const error = failureTypeOf(cause) ?? cause.type;
  const reason = causeText(cause);
  const what = run === undefined ? '' : ` of run ${run}`;
  const message = `${shownTask(name)} (${task}${what}) of ${user} failed for good in queue ${queue}: ${reason}`;
  const fields = { task, name, user, queue, attempt, run, node: undefined, error, reason };
  say(log, 'task.failed', message, fields);
}
