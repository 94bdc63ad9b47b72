/**
 * Order within one user. Level 6 is first in, first out, before everything else of that user. The
 * levels 1 to 5 share the user's other turns by weight: each non-empty level holds a tag, the
 * least tag is served, a tie goes to the higher level; inside a level the order is first in,
 * first out. A level that runs empty, whatever emptied it, loses its tag: nobody is owed turns for
 * work that is gone, and nobody is charged for turns that were not taken.
 */
import { CRITICAL, type Level } from '../task/task.ts';

/** Lives and dies with the user's record. Arrays are indexed by level − 1. */
export interface LevelShares {
  /** Virtual time of this user's levels 1 to 5. */
  v: number;
  /** Tag of each of the levels 1 to 5 at its latest turn. */
  readonly last: number[];
  /** Tag of the next turn of each of the levels 1 to 5; 0 while the level has none. */
  readonly tag: number[];
  /** Critical turns since the latest other one, or since nothing waited; counts for `criticalBurst` only. */
  criticalRun: number;
}

/** Those of a user that had no turn yet. */
export function newLevelShares(): LevelShares {
  return { v: 0, last: [0, 0, 0, 0, 0], tag: [0, 0, 0, 0, 0], criticalRun: 0 };
}

/** The levels that share turns, the higher first: a tie goes to it. */
const SHARING: readonly Level[] = [5, 4, 3, 2, 1];

/**
 * The level whose head is next, given how many tasks wait in each of the six; 0 when none does.
 * Gives every non-empty level a tag, which is why it may write to `shares`.
 */
export function nextLevel(
  shares: LevelShares,
  counts: readonly number[],
  weights: readonly number[],
  criticalBurst: number | undefined,
): Level | 0 {
  let best: Level | 0 = 0;
  let bestTag = 0;
  for (const level of SHARING) {
    if ((counts[level - 1] ?? 0) === 0) continue;
    const tag = tagOf(shares, level, weights);
    if (best === 0 || tag < bestTag) {
      best = level;
      bestTag = tag;
    }
  }
  const burstOver = criticalBurst !== undefined && shares.criticalRun >= criticalBurst;
  if ((counts[CRITICAL - 1] ?? 0) > 0 && !(burstOver && best > 0)) return CRITICAL;
  return best;
}

/** Records that the head of `level` was leased. */
export function served(shares: LevelShares, level: Level): void {
  if (level === CRITICAL) {
    shares.criticalRun++;
    return;
  }
  shares.criticalRun = 0;
  shares.v = shares.tag[level - 1] ?? shares.v;
  shares.last[level - 1] = shares.v;
  shares.tag[level - 1] = 0;
}

/**
 * Records that `level` has become empty without a turn (a cancel, a promotion elsewhere). Virtual
 * time stays, as no turn was taken. Canceling and adding again gains nothing: the next tag counts
 * from a virtual time that is never less than the one before.
 */
export function emptied(shares: LevelShares, level: Level): void {
  if (level !== CRITICAL) shares.tag[level - 1] = 0;
}

/** Records that a task comes to a user that has none in line. */
export function began(shares: LevelShares): void {
  shares.criticalRun = 0;
}

function tagOf(shares: LevelShares, level: number, weights: readonly number[]): number {
  const stored = shares.tag[level - 1] ?? 0;
  if (stored > 0) return stored;
  const last = shares.last[level - 1] ?? 0;
  const tag = (last > shares.v ? last : shares.v) + 1 / (weights[level - 1] ?? 1);
  shares.tag[level - 1] = tag;
  return tag;
}
