/** Random histories against the oracle: as many as a build has time for. `npm run model` runs more. */
import { describe, expect, inject, it } from 'vitest';
import { keptSeeds, neverMet, type Open, replay, runHistories } from './check.ts';
import { openerOf, type Which } from './subjects.ts';

/** In each run the same, so that a build fails for a change and not by chance. */
const SEED = 20_260_109;

/** How many histories. */
const RUNS = { memory: 1_200, both: 40, file: 30 } as const;

async function opened(which: Which, act: (open: Open) => Promise<void>): Promise<void> {
  const { open, close } = await openerOf(which, inject('redisPlace'));
  try {
    await act(open);
  } finally {
    await close();
  }
}

describe.each(['memory', 'both', 'file'] as const)('histories on %s', (which) => {
  const runs = RUNS[which];

  it('that failed once do not any more', () =>
    opened(which, async (open) => {
      for (const { note, steps } of keptSeeds()) {
        await expect(replay(open, steps), note).resolves.toBeUndefined();
      }
      expect(keptSeeds().length).toBeGreaterThan(0);
    }));

  it(`by chance, ${runs} of them, are what the oracle says`, () =>
    opened(which, async (open) => {
      const { failure, counters } = await runHistories(open, { runs, seed: SEED });
      expect(failure?.error, JSON.stringify(failure?.steps)).toBeUndefined();
      if (which === 'memory') expect(neverMet(counters)).toEqual([]);
    }));
});
