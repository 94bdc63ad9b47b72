/** A state that was written and read again goes on as if nothing had happened: histories. */
import { describe, expect, it } from 'vitest';
import { keptSeeds, type Open, replay, runHistories } from '../../model/check.ts';
import { STEP_TYPES } from '../../model/steps.ts';
import { reopenedSubject } from '../../model/subjects.ts';
import { rounds } from '../../support/rounds.ts';

const SEED = 20_261_130;

const EACH_CALL: Open = async () => [await reopenedSubject(1)];

const NOW_AND_THEN: Open = async () => [await reopenedSubject(12)];

describe('histories whose state is read again', () => {
  it('after each call: those that failed once', async () => {
    for (const { note, steps } of keptSeeds()) {
      await expect(replay(EACH_CALL, steps), note).resolves.toBeUndefined();
    }
  });

  it('by chance are what the oracle says', async () => {
    const { failure, counters } = await runHistories(NOW_AND_THEN, {
      runs: rounds(100, 50),
      seed: SEED,
      quick: true,
    });
    expect(failure?.error, JSON.stringify(failure?.steps)).toBeUndefined();
    expect(STEP_TYPES.filter((type) => !counters.steps.has(type))).toEqual([]);
  });
});
