/** The closed form of a task's place against the rule itself, turn by turn. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { positionOf } from '../../src/domain/explain/position.ts';
import {
  emptied,
  newLevelShares,
  nextLevel,
  served,
} from '../../src/domain/fairness/priority-shares.ts';
import { PRIORITY_WEIGHTS } from '../../src/domain/limits.ts';
import type { TaskFacts } from '../../src/domain/port/backend.ts';
import type { Level } from '../../src/domain/task/task.ts';
import { factsOf } from './task-facts.ts';

const counts = fc.array(fc.nat(12), { minLength: 6, maxLength: 6 });
/** Powers of two, so that turns are exact; of other weights a tie may go either way. */
const exact = fc.array(fc.integer({ min: 0, max: 10 }), { minLength: 5, maxLength: 5 });
const weights = fc.oneof(
  fc.constant(PRIORITY_WEIGHTS),
  exact.map((powers) => powers.map((power) => 2 ** power)),
);

/** Turns taken before, and the level of the task, from 0. */
const history = fc.tuple(fc.nat(20), fc.nat(5));

it('counts exactly the turns that come before', () => {
  fc.assert(
    fc.property(counts, counts, weights, history, (before, waiting, w, [turns, at]) => {
      const shares = newLevelShares();
      // Some history first, so that levels have waited.
      const past = [...before];
      for (let turn = 0; turn < turns; turn++) take(shares, past, w);
      // What is left of it is gone, and other tasks have come.
      for (let level = 1; level <= 5; level++) emptied(shares, level as Level);
      const levels = [...waiting];
      const level = (at + 1) as Level;
      levels[at] = (levels[at] ?? 0) + 1;
      const ahead = (levels[at] ?? 1) - 1;
      const { waited } = structuredClone(shares);
      const facts = factsOf({
        record: { state: 'queued', level },
        ahead,
        user: { levels: [...levels] },
        shares: { waited, weights: w },
      });
      let expected = 0;
      for (let own = -1; own < ahead; expected++) if (take(shares, levels, w) === level) own++;
      expect(positionOf(facts)?.turnsBefore).toBe(expected - 1);
    }),
    { numRuns: 500 },
  );
});

it('is there for queued tasks only', () => {
  const states: readonly TaskFacts['record']['state'][] = ['scheduled', 'started', 'finished'];
  for (const state of states) {
    expect(positionOf(factsOf({ record: { state } }))).toBeUndefined();
  }
  const facts = factsOf({ record: { state: 'queued' }, ahead: 4, usersAhead: 2 });
  expect(positionOf(facts)).toMatchObject({ place: 5, usersAhead: 2 });
});

/** One turn of the user, as a lease takes it. */
function take(
  shares: ReturnType<typeof newLevelShares>,
  counts: number[],
  weights: readonly number[],
): Level | 0 {
  const level = nextLevel(shares, counts, weights, undefined);
  if (level === 0) return 0;
  served(shares, level, counts, weights);
  counts[level - 1] = (counts[level - 1] ?? 1) - 1;
  if (counts[level - 1] === 0) emptied(shares, level);
  return level;
}
