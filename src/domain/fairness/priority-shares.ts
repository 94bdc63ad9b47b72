/**
 * Order within one user. Level 6 is first in, first out, before everything else of that user. The
 * levels 1 to 5 share the user's other turns by weight: each turn lets the other levels that have work
 * wait so much longer, and a level of weight w has its next turn when it has waited 1/w. The one with
 * the least left is served, a tie goes to the higher level; inside a level the order is first in, first
 * out. Nothing else is kept, so other weights hold at once. A level that runs empty, for any reason, has
 * not waited: no level is owed turns for work that is gone, and none is charged for turns that it did
 * not take.
 */
import { CRITICAL, type Level } from '../task/task.ts';

/** Lives and dies with the user's record. */
export interface LevelShares {
  /** For how many turns of weight 1 each of the levels 1 to 5 has waited; 0 for one without work. */
  readonly waited: number[];
  /** Critical turns since the latest other one, or since nothing waited; counts for `criticalBurst` only. */
  criticalRun: number;
}

/** Those of a user whose levels have not waited for each other. */
export function newLevelShares(): LevelShares {
  return { waited: [0, 0, 0, 0, 0], criticalRun: 0 };
}

/** The levels that share turns, the higher first: a tie goes to it. */
const SHARING: readonly Level[] = [5, 4, 3, 2, 1];

/** The level whose head is next, given how many tasks wait in each of the six; 0 when none does. */
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

/** Records that the head of `level` was leased, of so many as waited before that. */
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

/** Records that a task comes to a user that has none in line. */
export function began(shares: LevelShares): void {
  shares.criticalRun = 0;
}

/** How much longer a level waits for its next turn; not at all, where its weight has risen meanwhile. */
export function leftOf(
  waited: readonly number[],
  level: number,
  weights: readonly number[],
): number {
  return Math.max(0, 1 / (weights[level - 1] ?? 1) - (waited[level - 1] ?? 0));
}

/** What older versions kept. */
export interface LevelTags {
  /** Virtual time of the levels. */
  readonly v: number;
  /** When each of the levels 1 to 5 has its next turn, by the weights of when it was told; 0 for one without. */
  readonly tag: readonly number[];
}

/** The same, as it is kept today. */
export function waitedOf({ v, tag }: LevelTags, weights: readonly number[]): number[] {
  return newLevelShares().waited.map((none, at) => {
    const turn = tag[at] ?? 0;
    return turn === 0 ? none : Math.max(0, v + 1 / (weights[at] ?? 1) - turn);
  });
}
