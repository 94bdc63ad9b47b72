/** How a user has fared of late: the age of its line, its waits and runs, and when its line is over. */
import { expect, it } from 'vitest';
import { LIMITS } from '../../../src/domain/limits.ts';
import { task } from '../../../src/workflow/task-definition.ts';
import { eachBackend, opened } from '../../support/backends.ts';

const FLUSH = LIMITS.seriesFlushMs;

eachBackend((open) => {
  const harness = opened(open);

  /** Runs for so long by the clock of the test. */
  const slow = task('slow', (ms: number) => {
    return new Promise((resolve) => {
      harness.clock.setTimer(ms, () => resolve(1));
    });
  });

  it('is undefined for an unknown user', async () => {
    const loom = harness.loom([]);
    const history = await loom.users.history('nobody');
    expect(history).toEqual({ user: 'nobody', queue: 'default', perMinute: 0 });
  });

  it('says how old the first task in line is, and no more before any has started', async () => {
    const loom = harness.loom([slow]);
    await loom.enqueue(slow, 1, { user: 'ann' });
    await harness.clock.advance('5m');
    await loom.enqueue(slow, 1, { user: 'ann' });
    expect(await loom.users.history('ann')).toEqual({
      user: 'ann',
      queue: 'default',
      oldestWaitMs: 300_000,
      perMinute: 0,
    });
  });

  it('says by the rate of the last minutes when its line is over', async () => {
    const loom = harness.loom([slow]);
    await loom.worker({ concurrency: 1 }).start();
    // Two a minute, of which the first are no part of the last ten minutes.
    await loom.enqueueMany(slow, Array(40).fill(30_000), { user: 'ann' });
    await loom.enqueue(slow, 1, { user: 'ann', queue: 'other' });
    await harness.clock.advance('14m');
    await harness.clock.advance(FLUSH);
    const { perMinute, etaMs = 0, run, wait, ...rest } = await loom.users.history('ann');
    expect(rest).toMatchObject({ oldestWaitMs: expect.any(Number) });
    expect(perMinute).toBeGreaterThan(1.8);
    expect(perMinute).toBeLessThan(2.2);
    const { queued = 0 } = (await loom.users.get('ann')) ?? {};
    expect(queued).toBe(11);
    expect(etaMs).toBe(Math.round((queued / perMinute) * 60_000));
    expect(Math.abs((run?.p50 ?? 0) - 30_000)).toBeLessThan(2_800);
    expect(wait?.p95).toBeGreaterThan(600_000);
    await loom.users.pause('ann');
    expect(await loom.users.history('ann')).not.toHaveProperty('etaMs');
    expect(await loom.users.history('ann', { queue: 'other' })).toMatchObject({
      queue: 'other',
      perMinute: 0,
    });
  });

  it('gives one that has just begun a whole minute', async () => {
    const loom = harness.loom([slow]);
    await loom.worker({ concurrency: 1 }).start();
    await loom.enqueueMany(slow, [1, 1, 1, 3_600_000, 1], { user: 'ann' });
    await harness.clock.advance(FLUSH);
    expect(await loom.users.history('ann')).toMatchObject({ perMinute: 4, etaMs: 15_000 });
  });

  it('forgets the rate of one that has started nothing for ten minutes, not how it waited', async () => {
    const loom = harness.loom([slow]);
    await loom.worker().start();
    await loom.enqueue(slow, 1, { user: 'ann' });
    await harness.clock.advance('11m');
    const history = await loom.users.history('ann');
    expect(history).toMatchObject({ perMinute: 0, wait: { count: 1 }, run: { count: 1 } });
    expect(history).not.toHaveProperty('oldestWaitMs');
  });

  it('refuses what is no user, and no queue', async () => {
    const loom = harness.loom([]);
    await expect(loom.users.history('')).rejects.toMatchObject({ option: 'user' });
    await expect(loom.users.history('a', { queue: 'a b' })).rejects.toMatchObject({
      option: 'queue',
    });
  });
});
