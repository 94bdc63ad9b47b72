import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  chooseHead,
  correctedTag,
  expectedRun,
  learned,
  recountedTag,
  rescaledTag,
  sharedClass,
  sharedStep,
} from '../../src/domain/fair-share.ts';
import { LIMITS } from '../../src/domain/limits.ts';
import { LaneSimulation } from './lane-simulation.ts';

/** What rounding may add to a deviation counted in turns. */
const ROUNDING = 1e-6;

function backlogged(weights: readonly number[]): LaneSimulation {
  const lane = new LaneSimulation();
  weights.forEach((weight, i) => {
    lane.enter(`u${i}`, weight);
  });
  return lane;
}

/** Largest distance, in turns, of any user from its exact weighted share after any turn. */
function deviation(weights: readonly number[], turns: number): number {
  const lane = backlogged(weights);
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  const got = weights.map(() => 0);
  let worst = 0;
  for (let n = 1; n <= turns; n++) {
    const at = Number(lane.serve().slice(1));
    got[at] = (got[at] ?? 0) + 1;
    for (let i = 0; i < weights.length; i++) {
      const exact = (n * (weights[i] ?? 0)) / total;
      worst = Math.max(worst, Math.abs((got[i] ?? 0) - exact));
    }
  }
  return worst;
}

function tally(names: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const name of names) counts[name] = (counts[name] ?? 0) + 1;
  return counts;
}

function turns(lane: LaneSimulation, n: number): readonly string[] {
  return Array.from({ length: n }, () => lane.serve());
}

describe('a fixed set of users with work', () => {
  it.each([
    [[10_000, 1_000, 100]],
    [[700, 300, 100]],
    [[100, 100, 100, 100]],
    [[100_000, 1]],
    [[300, 100]],
    [[1, 1, 100_000]],
  ])('%j never leaves the exact share by more than one turn', (weights) => {
    expect(deviation(weights, 5_000)).toBeLessThanOrEqual(1 + ROUNDING);
  });

  it('never leaves it by more than one turn, whatever 31 weights', () => {
    const weight = fc.integer({ min: LIMITS.weightMin, max: 5_000 });
    const weights = fc.uniqueArray(weight, { minLength: 2, maxLength: LIMITS.weightClasses });
    fc.assert(
      fc.property(weights, (given) => {
        expect(deviation(given, 600)).toBeLessThanOrEqual(1 + ROUNDING);
      }),
      { numRuns: 150 },
    );
  });

  it('never leaves it by more than two turns where classes are shared', () => {
    const weight = fc.integer({ min: LIMITS.weightMin, max: 20_000 });
    const weights = fc.uniqueArray(weight, { minLength: 40, maxLength: 90 });
    fc.assert(
      fc.property(weights, (given) => {
        expect(deviation(given, 600)).toBeLessThanOrEqual(2 + ROUNDING);
      }),
      { numRuns: 60 },
    );
  });

  it('looks at a bounded number of heads, however many weights there are', () => {
    const lane = backlogged(Array.from({ length: 3_000 }, (_, i) => 1 + i * 33));
    // 31 exact classes, and one per power of two between weight 0.01 and 1,000.
    expect(lane.classes()).toBeLessThanOrEqual(LIMITS.weightClasses + 18);
  });

  it('gives 3 : 1 to weights 3 : 1', () => {
    expect(tally(turns(backlogged([300, 100]), 4_000))).toEqual({ u0: 3_000, u1: 1_000 });
  });

  it('charges a turn its cost', () => {
    const lane = backlogged([100, 100]);
    const got = { u0: 0, u1: 0 };
    for (let i = 0; i < 4_000; i++) {
      // Whoever is next pays before it is known who it is: both costs average the same.
      const name = lane.serve(1 + (i % 3)) as 'u0' | 'u1';
      got[name] += 1 + (i % 3);
    }
    expect(Math.abs(got.u0 - got.u1)).toBeLessThanOrEqual(2 * 3);
  });

  it('says nothing when nobody is ready', () => {
    expect(chooseHead([], 5)).toBeUndefined();
  });
});

describe('a newcomer', () => {
  it('is served within ⌈W / w⌉ + 1 turns', () => {
    const weights = fc.array(fc.integer({ min: 1, max: 2_000 }), { minLength: 1, maxLength: 25 });
    const own = fc.integer({ min: 20, max: 2_000 });
    fc.assert(
      fc.property(weights, own, fc.nat(500), (given, weight, before) => {
        const lane = backlogged(given);
        turns(lane, before);
        lane.enter('new', weight);
        const bound = Math.ceil(lane.clock.w / weight) + 1;
        expect(turns(lane, bound)).toContain('new');
      }),
      { numRuns: 300 },
    );
  });

  it('takes no run of turns for the time that it was not there', () => {
    const lane = backlogged([100, 100]);
    turns(lane, 10_000);
    lane.enter('new', 100);
    const counts = tally(turns(lane, 30));
    for (const name of ['u0', 'u1', 'new']) {
      expect(Math.abs((counts[name] ?? 0) - 10)).toBeLessThanOrEqual(1);
    }
  });

  it('gains nothing by leaving and coming back', () => {
    const lane = backlogged([100, 100, 100]);
    let got = 0;
    for (let i = 0; i < 3_000; i++) {
      if (lane.serve() !== 'u2') continue;
      got++;
      lane.leave('u2');
      lane.enter('u2', 100);
    }
    expect(got).toBeLessThanOrEqual(1_001);
  });

  it('of a new epoch owes nothing for the one before', () => {
    const lane = new LaneSimulation();
    lane.enter('a', 1);
    turns(lane, 50);
    lane.leave('a');
    lane.enter('b', 100);
    lane.enter('a', 100);
    expect(tally(turns(lane, 10))).toEqual({ a: 5, b: 5 });
  });
});

describe('a weight that changes', () => {
  it('acts on the next choice and keeps everybody within a few turns of the new shares', () => {
    const lane = backlogged([100, 100]);
    turns(lane, 501);
    lane.reweigh('u0', 300);
    const counts = tally(turns(lane, 400));
    expect(Math.abs((counts['u0'] ?? 0) - 300)).toBeLessThanOrEqual(2);
    lane.reweigh('u0', 100);
    const back = tally(turns(lane, 400));
    expect(Math.abs((back['u0'] ?? 0) - 200)).toBeLessThanOrEqual(2);
  });

  it('scales what the user is ahead by, so that no change forgives or doubles a debt', () => {
    expect(rescaledTag(10, 4, 100, 300)).toBe(6);
    expect(rescaledTag(6, 4, 300, 100)).toBe(10);
    expect(rescaledTag(3, 4, 100, 300)).toBe(4);
  });

  it('holds for any series of changes: shares follow the weights in force', () => {
    const change = fc.record({ user: fc.nat(4), weight: fc.integer({ min: 50, max: 1_000 }) });
    fc.assert(
      fc.property(fc.array(change, { minLength: 1, maxLength: 8 }), (changes) => {
        const weights = [100, 100, 100, 100, 100];
        const lane = backlogged(weights);
        for (const { user, weight } of changes) {
          weights[user] = weight;
          lane.reweigh(`u${user}`, weight);
          const total = weights.reduce((sum, each) => sum + each, 0);
          const counts = tally(turns(lane, 300));
          weights.forEach((each, i) => {
            const exact = (300 * each) / total;
            expect(Math.abs((counts[`u${i}`] ?? 0) - exact)).toBeLessThanOrEqual(3);
          });
        }
      }),
      { numRuns: 100 },
    );
  });

  it('in a burst gives nobody a run of turns', () => {
    const lane = backlogged([100, 100]);
    turns(lane, 100);
    for (let i = 0; i < 1_000; i++) lane.reweigh('u0', i % 2 === 0 ? 100_000 : 100);
    lane.reweigh('u0', 100);
    const counts = tally(turns(lane, 20));
    expect(Math.abs((counts['u0'] ?? 0) - 10)).toBeLessThanOrEqual(2);
  });
});

describe('shared classes', () => {
  it('have a step that no turn of a member exceeds, nor falls below by half', () => {
    fc.assert(
      fc.property(fc.integer({ min: LIMITS.weightMin, max: LIMITS.weightMax }), (weight) => {
        const step = sharedStep(sharedClass(weight));
        expect(100 / weight).toBeLessThan(step + Number.EPSILON);
        expect(100 / weight).toBeGreaterThanOrEqual(step / 2);
      }),
    );
  });
});

describe('time', () => {
  it('is expected to be what it was: of the user, else of the queue, else a second', () => {
    expect(expectedRun(3, 9)).toBe(3);
    expect(expectedRun(undefined, 9)).toBe(9);
    expect(expectedRun(undefined, undefined)).toBe(1);
  });

  it('is learned: the newest counts for an eighth', () => {
    expect(learned(undefined, 5)).toBe(5);
    expect(learned(8, 0)).toBe(7);
    expect(learned(8, 16)).toBe(9);
  });

  it('is corrected to what was held, but for a claim to turns in a row', () => {
    const correction = { chargedS: 2, heldS: 5, weight: 200 };
    expect(correctedTag(11, 10, correction)).toBe(12.5);
    expect(correctedTag(11, 10, { ...correction, heldS: 0 })).toBe(10);
    expect(correctedTag(4, 10, { ...correction, heldS: 0 })).toBe(9);
  });

  it('is counted anew from at most a turn ahead', () => {
    expect(recountedTag(50, 10, 200)).toBe(10.5);
    expect(recountedTag(10.2, 10, 200)).toBe(10.2);
  });
});
