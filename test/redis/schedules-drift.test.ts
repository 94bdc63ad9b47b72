/** An index of schedules that was damaged is found out, and repaired once. */
import { Redis } from 'ioredis';
import { afterAll, expect, inject, it } from 'vitest';
import { redisForTests } from '../../src/backends/redis/manual-time.ts';

const NOW = Date.UTC(2026, 0, 5, 12);
const prefix = `drift-${process.pid}`;
const { backend, setTime, dispose } = redisForTests(inject('redisPlace'), { prefix });
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

it('reconcile compares schedules with those that fire at events', async () => {
  const { schedules, inspect, waits } = backend;
  const on = { user: 'ann', event: 'paid' } as const;
  const common = { revision: 0, spec: '{}', paused: false, overlap: 'allow', on } as const;
  for (const id of ['kept', 'removed', 'unheard']) await schedules.set({ ...common, id });
  await schedules.set({ ...common, id: 'silent', paused: true });
  expect((await inspect.reconcile({ repair: true })).drift).toEqual([]);
  const list = `${prefix}:event-schedules:3:annpaid`;
  expect((await raw.smembers(list)).sort()).toEqual(['kept', 'removed', 'unheard']);
  await raw.del(`${prefix}:schedule:removed`);
  await raw.srem(list, 'unheard');
  await raw.sadd(list, 'silent', 'stray');
  const firing = async (): Promise<readonly string[]> => {
    const event = { name: 'paid', key: 'k', payload: '1', eventId: 'e', keepMs: 60_000 };
    const reply = await waits.publish('ann', event, []);
    return reply.kind === 'schedules' ? reply.schedules.map(({ id }) => id).sort() : [];
  };
  const looked = await inspect.reconcile({ repair: false });
  expect([...looked.drift].sort()).toEqual([
    'event-schedules 3:annpaid has a schedule that does not fire at these events',
    'schedule removed: not stored',
    'schedule unheard is in no listing',
  ]);
  expect(await firing()).toEqual(['kept', 'silent']);
  expect((await inspect.reconcile({ repair: true })).drift).toHaveLength(3);
  expect((await inspect.reconcile({ repair: true })).drift).toEqual([]);
  expect(await firing()).toEqual(['kept', 'unheard']);
  expect((await raw.smembers(list)).sort()).toEqual(['kept', 'unheard']);
});
