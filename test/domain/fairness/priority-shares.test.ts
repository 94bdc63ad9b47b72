import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  began,
  emptied,
  newLevelShares,
  nextLevel,
  served,
} from '../../../src/domain/fairness/priority-shares.ts';
import { PRIORITY_WEIGHTS } from '../../../src/domain/limits.ts';
import { CRITICAL, type Level } from '../../../src/domain/task/task.ts';

const NORMAL: Level = 3;
const HIGH: Level = 4;

/** One user's waiting tasks as counts per level, served by the domain functions. */
class Levels {
  readonly shares = newLevelShares();
  readonly counts = [0, 0, 0, 0, 0, 0];
  #weights: readonly number[];
  readonly #burst: number | undefined;

  constructor(weights = PRIORITY_WEIGHTS, burst?: number) {
    this.#weights = weights;
    this.#burst = burst;
  }

  weigh(weights: readonly number[]): void {
    this.#weights = weights;
  }

  add(level: Level, n = 1): void {
    if (this.counts.every((count) => count === 0)) began(this.shares);
    this.counts[level - 1] = this.at(level) + n;
  }

  /** Takes `n` away without a turn, as a bulk cancel does. */
  cancel(level: Level, n = 1): void {
    this.counts[level - 1] = this.at(level) - n;
    if (this.at(level) === 0) emptied(this.shares, level);
  }

  serve(): Level | 0 {
    const level = nextLevel(this.shares, this.counts, this.#weights, this.#burst);
    if (level === 0) return 0;
    served(this.shares, level, this.counts, this.#weights);
    this.counts[level - 1] = this.at(level) - 1;
    if (this.at(level) === 0) emptied(this.shares, level);
    return level;
  }

  at(level: Level): number {
    return this.counts[level - 1] ?? 0;
  }

  /** Turns until one of this level is served, that turn included. */
  waitOf(level: Level): number {
    for (let turn = 1; ; turn++) if (this.serve() === level) return turn;
  }
}

function tally(levels: Levels, turns: number): readonly number[] {
  const counts = [0, 0, 0, 0, 0, 0];
  for (let i = 0; i < turns; i++) {
    const level = levels.serve();
    if (level > 0) counts[level - 1] = (counts[level - 1] ?? 0) + 1;
  }
  return counts;
}

describe('levels of one user', () => {
  it('share turns 1 : 2 : 4 : 8 : 16 while all have work', () => {
    const levels = new Levels();
    for (const level of [1, 2, 3, 4, 5] as const) levels.add(level, 10_000);
    expect(tally(levels, 3_100)).toEqual([100, 200, 400, 800, 1_600, 0]);
  });

  it('have turns that fall together from the highest down', () => {
    const levels = new Levels();
    levels.add(3, 1);
    levels.add(4, 2);
    levels.add(5, 4);
    expect(Array.from({ length: 7 }, () => levels.serve())).toEqual([5, 5, 4, 5, 5, 4, 3]);
  });

  it('share turns by the weights of the queue', () => {
    const levels = new Levels([1, 1, 1, 1, 6]);
    for (const level of [1, 2, 3, 4, 5] as const) levels.add(level, 1_000);
    expect(tally(levels, 1_000)).toEqual([100, 100, 100, 100, 600, 0]);
  });

  it('share turns by other weights from the next turn on', () => {
    const levels = new Levels([1, 1, 1, 1, 1]);
    for (const level of [1, 2, 3, 4, 5] as const) levels.add(level, 1_000);
    tally(levels, 5);
    levels.weigh([1, 1, 6, 1, 1]);
    expect(tally(levels, 1_000)).toEqual([100, 100, 600, 100, 100, 0]);
  });

  it('are owed no turns for what they weighed before', () => {
    const levels = new Levels([1, 1, 1, 1, 1_000]);
    levels.add(4, 2_000);
    levels.add(5, 2_000);
    tally(levels, 999);
    levels.weigh([1, 1, 1, 1_000, 1_000]);
    expect(Array.from({ length: 5 }, () => levels.serve())).toEqual([4, 5, 4, 5, 4]);
  });

  it('wait anew once they had nothing', () => {
    const levels = new Levels();
    levels.add(NORMAL);
    levels.add(HIGH, 10);
    levels.serve();
    levels.cancel(NORMAL);
    levels.add(NORMAL);
    expect([1, 2, 3].map(() => levels.serve())).toEqual([HIGH, HIGH, NORMAL]);
  });

  it('have waited for nothing once one alone has work', () => {
    const levels = new Levels([3, 7, 11, 13, 17]);
    for (const level of [1, 2, 3, 4, 5] as const) levels.add(level, 5);
    tally(levels, 25);
    levels.add(NORMAL, 5);
    tally(levels, 3);
    expect(levels.shares).toEqual(newLevelShares());
  });

  it('let a HIGH task wait two turns behind 200,000 NORMAL ones', () => {
    for (const before of [0, 1, 2, 3, 777]) {
      const levels = new Levels();
      levels.add(NORMAL, 200_000);
      for (let i = 0; i < before; i++) levels.serve();
      levels.add(HIGH);
      expect([before, levels.waitOf(HIGH) <= 2]).toEqual([before, true]);
    }
  });

  it('never give VERY_LOW less than one turn in 31', () => {
    const levels = new Levels();
    for (const level of [2, 3, 4, 5] as const) levels.add(level, 100_000);
    levels.add(1, 1_000);
    for (let i = 0; i < 1_000; i++) expect(levels.waitOf(1)).toBeLessThanOrEqual(36);
  });

  it('give CRITICAL everything before the rest', () => {
    const levels = new Levels();
    levels.add(5, 10);
    levels.add(CRITICAL, 100);
    expect(tally(levels, 100)).toEqual([0, 0, 0, 0, 0, 100]);
    expect(levels.serve()).toBe(5);
  });

  it('give one other turn after criticalBurst critical ones', () => {
    const levels = new Levels(PRIORITY_WEIGHTS, 3);
    levels.add(NORMAL, 100);
    levels.add(CRITICAL, 100);
    const first = Array.from({ length: 9 }, () => levels.serve());
    expect(first).toEqual([6, 6, 6, 3, 6, 6, 6, 3, 6]);
    const alone = new Levels(PRIORITY_WEIGHTS, 3);
    alone.add(CRITICAL, 10);
    expect(tally(alone, 10)).toEqual([0, 0, 0, 0, 0, 10]);
  });

  it('count critical turns only while another may have waited', () => {
    const levels = new Levels(PRIORITY_WEIGHTS, 2);
    levels.add(CRITICAL, 2);
    expect([levels.serve(), levels.serve()]).toEqual([6, 6]);
    levels.add(NORMAL, 1);
    levels.add(CRITICAL, 3);
    expect([1, 2, 3, 4].map(() => levels.serve())).toEqual([6, 6, 3, 6]);
  });

  it('answer 0 when nothing waits', () => {
    expect(new Levels().serve()).toBe(0);
  });
});

describe('faults that earlier drafts had', () => {
  it('one NORMAL canceled, 4,000 HIGH turns, then both backlogged: HIGH waits one turn', () => {
    const levels = new Levels();
    levels.add(NORMAL);
    levels.add(HIGH, 4_001);
    levels.serve();
    levels.cancel(NORMAL);
    for (let i = 0; i < 4_000; i++) levels.serve();
    levels.add(NORMAL, 5_000);
    levels.add(HIGH, 5_000);
    expect(levels.waitOf(HIGH)).toBe(1);
    for (let i = 0; i < 500; i++) expect(levels.waitOf(HIGH)).toBeLessThanOrEqual(2);
  });

  it('20,000 NORMAL canceled but one, under a stream of HIGH', () => {
    const levels = new Levels();
    levels.add(NORMAL, 20_000);
    levels.add(HIGH, 10);
    for (let i = 0; i < 5; i++) levels.serve();
    levels.cancel(NORMAL, levels.at(NORMAL) - 1);
    levels.add(HIGH, 100_000);
    expect(levels.waitOf(NORMAL)).toBeLessThanOrEqual(4);
    levels.add(NORMAL, 100);
    for (let i = 0; i < 50; i++) expect(levels.waitOf(NORMAL)).toBeLessThanOrEqual(4);
  });

  it('a task back from its backoff after its level drained is served next, not after 20,000', () => {
    const levels = new Levels();
    levels.add(NORMAL);
    levels.add(HIGH, 20_000);
    levels.waitOf(NORMAL);
    for (let i = 0; i < 10_000; i++) levels.serve();
    levels.add(NORMAL);
    expect(levels.waitOf(NORMAL)).toBeLessThanOrEqual(3);
  });

  it('canceling and adding again gains nothing', () => {
    const levels = new Levels();
    levels.add(NORMAL, 10_000);
    levels.add(HIGH, 10_000);
    let normal = 0;
    for (let i = 0; i < 3_000; i++) {
      if (levels.serve() === NORMAL) normal++;
      const waiting = levels.at(NORMAL);
      levels.cancel(NORMAL, waiting);
      levels.add(NORMAL, waiting);
    }
    expect(normal).toBeLessThanOrEqual(1_001);
  });

  it('a low level added and canceled 1,000 times moves no user behind turns that were not taken', () => {
    const levels = new Levels();
    levels.add(HIGH, 10_000);
    for (let i = 0; i < 1_000; i++) {
      levels.add(1);
      levels.serve();
      levels.cancel(1, levels.at(1));
    }
    levels.add(NORMAL, 100);
    for (let i = 0; i < 100; i++) expect(levels.waitOf(NORMAL)).toBeLessThanOrEqual(3);
  });
});

describe('any history', () => {
  const level = fc.integer({ min: 1, max: 5 }) as fc.Arbitrary<Level>;
  const step = fc.oneof(
    fc.record({ add: level, n: fc.integer({ min: 1, max: 50 }) }),
    fc.record({ cancel: level, n: fc.integer({ min: 1, max: 50 }) }),
    fc.record({ serve: fc.integer({ min: 1, max: 40 }) }),
  );
  const weights = fc.constantFrom(PRIORITY_WEIGHTS, [1, 1, 1, 1, 1], [3, 1, 7, 2, 5]);

  it('serves a level with k before it within (k + 1) · Σw / w + 5 turns', () => {
    fc.assert(
      fc.property(weights, fc.array(step, { maxLength: 40 }), level, (given, steps, target) => {
        const levels = new Levels(given);
        const sum = given.reduce((total, weight) => total + weight, 0);
        for (const each of steps) apply(levels, each);
        const before = levels.at(target);
        levels.add(target);
        for (const other of [1, 2, 3, 4, 5] as const) levels.add(other, 10_000);
        const bound = ((before + 1) * sum) / (given[target - 1] ?? 1) + 5;
        let turns = 0;
        for (let left = before + 1; left > 0; turns++) if (levels.serve() === target) left--;
        expect(turns).toBeLessThanOrEqual(bound);
      }),
      { numRuns: 2_000 },
    );
  });

  type Step = { add: Level; n: number } | { cancel: Level; n: number } | { serve: number };

  function apply(levels: Levels, each: Step): void {
    if ('add' in each) levels.add(each.add, each.n);
    else if ('cancel' in each) levels.cancel(each.cancel, Math.min(each.n, levels.at(each.cancel)));
    else for (let i = 0; i < each.serve; i++) levels.serve();
  }
});
