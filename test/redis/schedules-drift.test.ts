/** An index of schedules that was damaged is found out, and repaired once. */
import { Redis } from 'ioredis';
import { afterAll, expect, inject, it } from 'vitest';
import { redisForTests } from '../../src/backends/redis/manual-time.ts';

const NOW = Date.UTC(2026, 0, 5, 12);
const prefix = `drift-${process.pid}`;
const { backend, setTime, dispose } = redisForTests(inject('redisUrl'), { prefix });
const raw = new Redis(inject('redisUrl'));

afterAll(async () => {
  raw.disconnect();
  await dispose();
});

it('reconcile compares schedules with their list and with those that are due', async () => {
  await setTime(NOW);
  const { schedules, inspect } = backend;
  const common = { revision: 0, spec: '{}', paused: false, overlap: 'skip' } as const;
  for (const [at, id] of ['gone', 'late', 'lost', 'well'].entries()) {
    const slot = NOW + at;
    await schedules.set({ ...common, id, next: { slot, dueAt: slot } });
  }
  await schedules.set({ ...common, id: 'paused', paused: true });
  expect((await inspect.reconcile({ repair: true })).drift).toEqual([]);
  await raw.del(`${prefix}:schedule:gone`);
  await raw.zadd(`${prefix}:schedules:due`, NOW + 60_000, 'late');
  await raw.zrem(`${prefix}:schedules:due`, 'lost');
  await raw.zadd(`${prefix}:schedules:due`, NOW, 'stray');
  const looked = await inspect.reconcile({ repair: false });
  expect(looked).toMatchObject({ repaired: 0 });
  const found = ['gone', 'late', 'lost', 'stray'].map((id) =>
    expect.stringMatching(new RegExp(`^schedule ${id}: `)),
  );
  expect([...looked.drift].sort()).toEqual(found);
  const repaired = await inspect.reconcile({ repair: true });
  expect(repaired.drift).toHaveLength(4);
  expect(repaired.repaired).toBeGreaterThanOrEqual(4);
  expect((await inspect.reconcile({ repair: true })).drift).toEqual([]);
  await setTime(NOW + 10);
  const due = await schedules.due({ owner: 's', limit: 10 });
  expect(due).toMatchObject({ schedules: [{ id: 'late' }, { id: 'lost' }, { id: 'well' }] });
});
