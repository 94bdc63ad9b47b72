/** Faults over the whole backend, at some operations of some histories. `npm run faults` strikes all. */
import { expect, it } from 'vitest';
import { strikeFull } from './full.ts';
import { type Extent, strike } from './programme.ts';
import { Tally } from './tally.ts';

/** In each run the same, so that a build fails for a change and not by chance; each has another setting. */
const SEEDS = [7, 8, 9];

const QUICK: Extent = { calls: 80, stride: 31, cuts: 2, kinds: 2, goesOn: 4, again: 16 };

it('what was answered is there, and nothing else, after any fault; and it goes on as in memory', async () => {
  const tally = new Tally();
  for (const seed of SEEDS) await strike(seed, QUICK, tally);
  expect(tally.findings).toEqual([]);
  expect(tally.snapshots.made).toBeGreaterThan(5);
  expect(tally.snapshots.forgotten).toBeGreaterThan(0);
  expect([...tally.faults.keys()].sort()).toEqual(
    ['EIO', 'ENOSPC', 'full', 'kill', 'loss of power', 'second fault', 'short'].sort(),
  );
  expect([...tally.refusals.keys()]).toContain('call BACKEND_FULL');
});

// F93
it('on a disk that is full until all work is done everything that was taken ends, and then new tasks are taken', async () => {
  const tally = new Tally();
  const { fullest, drained } = await strikeFull(7, { stride: 97, crashes: 1 }, tally);
  expect(tally.findings).toEqual([]);
  expect(drained).toBeLessThan(fullest / 4);
  expect(tally.refusals.get('call BACKEND_FULL')).toBeGreaterThan(20);
  expect(tally.recoveries).toBeGreaterThan(3);
});

// F93
it('a disk that is filled by large results can be opened and freed, and then everything ends', async () => {
  const tally = new Tally();
  const { fullest, drained } = await strikeFull(
    7,
    { stride: 293, crashes: 1, hasLargeResults: true },
    tally,
  );
  expect(tally.findings).toEqual([]);
  expect(drained).toBeLessThan(fullest / 4);
  expect(tally.refusals.get('settle BACKEND_FULL')).toBeGreaterThan(5);
  expect(tally.faults.get('removed')).toBeGreaterThan(5);
});
