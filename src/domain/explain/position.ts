/** Place of a waiting task, computed in closed form for any length of the line. */

import { leftOf } from '../fairness/priority-shares.ts';
import type { TaskFacts } from '../port/backend.ts';
import { CRITICAL } from '../task/task.ts';

/** Turns this close count as equal, so that rounding does not change their order. */
const EPSILON = 1e-9;

/** The place of a queued task. */
export interface Position {
  /** Place within its level and user, from 1. */
  readonly place: number;
  /** Number of turns of its user before its own, in all levels. */
  readonly turnsBefore: number;
  /** Number of users of its queue whose next turn comes before its user's. */
  readonly usersAhead: number;
}

/** The place of a task; `undefined` unless it is queued. */
export function positionOf(facts: TaskFacts): Position | undefined {
  if (facts.record.state !== 'queued') return undefined;
  return {
    place: facts.ahead + 1,
    turnsBefore: turnsBefore(facts),
    usersAhead: facts.usersAhead,
  };
}

/**
 * Turns of its user before the task's own. A level waits 1/weight for each turn; the level with the
 * least wait left is served, on a tie the higher one. So a level precedes this task as often as it
 * has turns while the task waits. Critical tasks come first.
 */
function turnsBefore({ record, ahead, user, shares }: TaskFacts): number {
  const counts = user?.levels ?? [];
  if (record.level === CRITICAL) return ahead;
  const own =
    leftOf(shares.waited, record.level, shares.weights) + ahead / weightOf(shares, record.level);
  let turns = ahead + (counts[CRITICAL - 1] ?? 0);
  for (let level = 1; level < CRITICAL; level++) {
    const count = counts[level - 1] ?? 0;
    if (level === record.level || count === 0) continue;
    turns += Math.min(count, turnsWithin(shares, level, { time: own, level: record.level }));
  }
  return turns;
}

/** Number of turns of a level before another level's turn, if it never ran empty. */
function turnsWithin(
  shares: TaskFacts['shares'],
  level: number,
  other: { readonly time: number; readonly level: number },
): number {
  const steps =
    (other.time - leftOf(shares.waited, level, shares.weights)) * weightOf(shares, level);
  if (level > other.level) return Math.max(0, Math.floor(steps + EPSILON) + 1);
  return Math.max(0, Math.ceil(steps - EPSILON));
}

function weightOf({ weights }: TaskFacts['shares'], level: number): number {
  return weights[level - 1] ?? 1;
}
