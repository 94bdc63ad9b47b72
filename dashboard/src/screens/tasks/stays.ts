/** The way of a task as stays, each with its length. */
import type { TaskDetails } from '../../api/shapes.ts';

/** A stretch of time in which a task waited, or one attempt ran. */
export interface Stay {
  readonly kind: 'runs' | 'waits';
  readonly from: number;
  readonly to: number;
  /** Of an attempt. */
  readonly attempt?: number;
  /** How that ended; absent while it runs. */
  readonly outcome?: string;
}

/** From its enqueue to its end, or to now. */
export function staysOf(task: TaskDetails, now: number): readonly Stay[] {
  const stays: Stay[] = [];
  let at = task.createdAt;
  const waitUntil = (to: number): void => {
    if (to > at) stays.push({ kind: 'waits', from: at, to });
    at = Math.max(at, to);
  };
  for (const { attempt, leasedAt, endedAt, outcome } of task.attempts) {
    waitUntil(leasedAt);
    stays.push({ kind: 'runs', from: leasedAt, to: endedAt, attempt, outcome });
    at = Math.max(at, endedAt);
  }
  if (task.state === 'started' && task.leasedAt !== undefined) {
    waitUntil(task.leasedAt);
    const to = Math.max(now, task.leasedAt);
    stays.push({ kind: 'runs', from: task.leasedAt, to, attempt: task.failures + 1 });
    return stays;
  }
  waitUntil(task.endedAt ?? Math.max(now, at));
  return stays;
}
