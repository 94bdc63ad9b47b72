/** Log line about a failure: task, user, attempt and error. */
import type { Logger } from '../base/logger.ts';
import { lineOf, type TaskError } from '../base/thrown.ts';
import { shownNode, shownTask } from '../domain/task/node-name.ts';
import { type Failed, say } from './log-events.ts';

/** Logger of such lines, and their level of detail. */
export interface FailureLog {
  readonly log: Logger;
  /** False: only the name of the error. */
  readonly logErrors: boolean;
}

/** Logs that an attempt failed, or that it was the last one. */
export function logFailure(
  { log, logErrors }: FailureLog,
  event: 'attempt.failed' | 'task.failed',
  failed: Failed,
  thrown: TaskError,
): void {
  const { task, name, user, attempt, run, node } = failed;
  const reason = logErrors ? lineOf(thrown) : undefined;
  const what = run === undefined || run === task ? '' : ` of run ${run}`;
  const where = node === undefined || node === '' ? '' : `, node ${shownNode(node)}`;
  const why = reason === undefined || reason === thrown.name ? '' : `: ${reason}`;
  const end = event === 'task.failed' ? 'failed for good at' : 'failed at';
  const message = `${shownTask(name)} (${task}${what}${where}) of ${user} ${end} attempt ${attempt}: ${thrown.name}${why}`;
  say(log, event, message, { ...failed, error: thrown.name, reason });
}
