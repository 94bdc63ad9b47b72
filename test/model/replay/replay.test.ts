/** Steps of many clients at once, replayed one after another: a share of `npm run replay`. */
import { expect, inject, it } from 'vitest';
import { History } from './history.ts';
import { newTally } from './replayer.ts';

/** In each run the same; which calls come first is chance, as it is for real clients. */
const SEED = 20_261_201;

it('what clients are answered at once, the other engine answers in the order of the steps', async () => {
  const tally = newTally();
  for (const seed of [0, 1, 2, 3, 4, 5]) {
    await History.play(inject('redisPlace'), SEED + seed, 400, tally);
  }
  expect(tally.answers).toBeGreaterThan(2_000);
});
