/**
 * Order within one user. Level 6 is first in, first out, before everything else of that user. The
 * levels 1 to 5 share the user's other turns by weight: each turn adds to the wait of the other
 * levels with work, and a level of weight w has its next turn when it has waited 1/w. The level
 * with the least wait left is served, on a tie the higher one; inside a level the order is first
 * in, first out. No other state is kept, so other weights apply at once. A level that runs empty
 * loses its wait: no level is owed turns for tasks that are gone, and none is charged for turns
 * that it did not take.
 */
import { CRITICAL, type Level } from '../task/task.ts';

/** Stored with the user's record. */
export interface LevelShares {
  /** Wait of each of the levels 1 to 5, in turns of weight 1; 0 for one without work. */
  readonly waited: number[];
  /** Critical turns since the latest other one, or since nothing waited; read for `criticalBurst` only. */
  criticalRun: number;
}

/** The shares of a user whose levels have not waited. */
export function newLevelShares(): LevelShares {
  return { waited: [0, 0, 0, 0, 0], criticalRun: 0 };
}

/** The levels that share turns, the higher first for ties. */
const SHARING: readonly Level[] = [5, 4, 3, 2, 1];

/** The level whose head is next, given the number of waiting tasks in each of the six; 0 for none. */
export function nextLevel(
  shares: LevelShares,
  counts: readonly number[],
  weights: readonly number[],
  criticalBurst: number | undefined,
): Level | 0 {
  let best: Level | 0 = 0;
  let least = 0;
  for (const level of SHARING) {
    if ((counts[level - 1] ?? 0) === 0) continue;
    const left = leftOf(shares.waited, level, weights);
    if (best === 0 || left < least) {
      best = level;
      least = left;
    }
  }
  const burstOver = criticalBurst !== undefined && shares.criticalRun >= criticalBurst;
  if ((counts[CRITICAL - 1] ?? 0) > 0 && !(burstOver && best > 0)) return CRITICAL;
  return best;
}

/** Records that the head of `level` was leased, given the numbers of waiting tasks before that. */
export function served(
  shares: LevelShares,
  level: Level,
  counts: readonly number[],
  weights: readonly number[],
): void {
  if (level === CRITICAL) {
    shares.criticalRun++;
    return;
  }
  shares.criticalRun = 0;
  const passed = leftOf(shares.waited, level, weights);
  for (const other of SHARING) {
    if ((counts[other - 1] ?? 0) > 0)
      shares.waited[other - 1] = (shares.waited[other - 1] ?? 0) + passed;
  }
  shares.waited[level - 1] = 0;
}

/** Records that `level` has become empty without a turn (a cancel, a promotion elsewhere). */
export function emptied(shares: LevelShares, level: Level): void {
  if (level !== CRITICAL) shares.waited[level - 1] = 0;
}

/** Records that a user without waiting tasks gets one. */
export function began(shares: LevelShares): void {
  shares.criticalRun = 0;
}

/** Remaining wait of a level until its next turn; 0 if its weight has risen meanwhile. */
export function leftOf(
  waited: readonly number[],
  level: number,
  weights: readonly number[],
): number {
  return Math.max(0, 1 / (weights[level - 1] ?? 1) - (waited[level - 1] ?? 0));
}

/** State of older versions. */
export interface LevelTags {
  /** Virtual time of the levels. */
  readonly v: number;
  /** Next turn of each of the levels 1 to 5, by the weights at that time; 0 for one without. */
  readonly tag: readonly number[];
}

/** The same state in today's form. */
export function waitedOf({ v, tag }: LevelTags, weights: readonly number[]): number[] {
  return newLevelShares().waited.map((none, at) => {
    const turn = tag[at] ?? 0;
    return turn === 0 ? none : Math.max(0, v + 1 / (weights[at] ?? 1) - turn);
  });
}
