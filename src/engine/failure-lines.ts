/** The line of log about a failure: what failed, of whom, at which attempt, and with what. */
import type { Logger } from '../base/logger.ts';
import { lineOf, type TaskError } from '../base/thrown.ts';
import { say } from './log-events.ts';

/** Where such lines go, and how much they may say. */
export interface FailureLog {
  readonly log: Logger;
  /** False: only the name of what was thrown. */
  readonly logErrors: boolean;
}

/** What failed. */
export interface Failed {
  readonly task: string;
  /** Of the task, or of the pipeline. */
  readonly name: string;
  readonly user: string;
  /** From 1. */
  readonly attempt: number;
  /** Of which run it is a part, or which it is. */
  readonly run: string | undefined;
  /** Its node; of a run the node that failed. */
  readonly node: string | undefined;
}

/** Says that an attempt failed, or that it was the last one. */
export function tellFailure(
  { log, logErrors }: FailureLog,
  event: 'attempt.failed' | 'task.failed',
  failed: Failed,
  thrown: TaskError,
): void {
  const { task, name, user, attempt, run, node } = failed;
  const reason = logErrors ? lineOf(thrown) : undefined;
  const what = run === undefined || run === task ? '' : ` of run ${run}`;
  const where = node === undefined || node === '' ? '' : `, node ${node}`;
  const why = reason === undefined || reason === thrown.name ? '' : `: ${reason}`;
  const end = event === 'task.failed' ? 'failed for good at' : 'failed at';
  const message = `${name} (${task}${what}${where}) of ${user} ${end} attempt ${attempt}: ${thrown.name}${why}`;
  say(log, event, message, { ...failed, error: thrown.name, reason });
}
