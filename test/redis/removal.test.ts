/** What was stored beside a task goes with it, with and without the sign in its end. */
import { expect, inject, it } from 'vitest';
import { FLAGS } from '../../src/backends/redis/layout/codes.ts';
import type { Leased } from '../../src/domain/port/leasing.ts';
import { adminOf, freshPrefix, manualKitOn, RETENTION } from './faults/kit.ts';

const KEPT_MS = 60_000;
let calls = 0;

/** A worker that leases one at a time, and settles what it leased before in the same call. */
async function setUp() {
  const prefix = freshPrefix();
  const admin = adminOf();
  const kit = await manualKitOn(inject('redisUrl'), { ...RETENTION, finishedMs: KEPT_MS }, prefix);
  await kit.worker('w');
  const { tasks } = kit.backend;
  let leased: readonly Leased[] = [];
  const next = async (queue = 'default'): Promise<Leased> => {
    const requestId = `request${String(calls++).padStart(6, '0')}`;
    const queues = [{ queue, weight: 1, pass: 0 }];
    const lease = { requestId, worker: 'w', limit: 1, leaseMs: 600_000, queues, wait: false };
    const settlements = leased.map(finished);
    const reply = await tasks.settle({ worker: 'w', settlements, lease });
    leased = reply.lease?.leases ?? [];
    const [first] = leased;
    if (first === undefined) throw new Error('nothing leased');
    return first;
  };
  const settle = async (): Promise<void> => {
    await tasks.settle({ worker: 'w', settlements: leased.map(finished) });
    leased = [];
  };
  const isBare = async (id: string): Promise<boolean> => {
    const ended = await admin.hgetBuffer(`${prefix}:ends`, id);
    return ended !== null && (ended[0] ?? 0) >= FLAGS.ending.bare;
  };
  /** Keys of which each task has its own. */
  const own = async (): Promise<readonly string[]> => {
    const keys = await admin.keys(`${prefix}:*`);
    return keys.filter((key) => /:(?:run|channel):/.test(key)).sort();
  };
  const removeAll = async (): Promise<void> => {
    await kit.advance(2 * KEPT_MS);
    while ((await tasks.tick()).more);
  };
  return { kit, prefix, admin, next, settle, isBare, own, removeAll };
}

function finished({ id, token }: Leased) {
  return { id, token, decision: { type: 'finish', result: '1' } } as const;
}

const TEXT = { name: 'go', payload: '1' };
const WRITES = [{ type: 'set', field: 'c:k', text: '1' }] as const;

it('ends of tasks that were nothing but run say so', async () => {
  const { kit, prefix, admin, next, settle, isBare, removeAll } = await setUp();
  const ids = await kit.addMany(3);
  await next();
  await next();
  await next();
  await settle();
  expect(await Promise.all(ids.map(isBare))).toEqual([true, true, true]);
  await removeAll();
  expect(await admin.exists(`${prefix}:tasks`, `${prefix}:ends`, `${prefix}:ended:finished`)).toBe(
    0,
  );
  expect((await kit.stats()).counts.finished).toBe(0);
});

it('what is written to a task before it starts, while it runs and once it has ended goes with it', async () => {
  const { kit, next, settle, isBare, own, removeAll } = await setUp();
  const [first = '', ended = ''] = await kit.addMany(2);
  const signaled = await kit.add();
  const noted = await kit.add();
  const told = await kit.add();
  const { runs, waits } = kit.backend;
  expect((await waits.signal(signaled, TEXT)).kind).toBe('buffered');
  await next();
  await next();
  await next();
  expect(await isBare(ended)).toBe(true);
  const lease = await next();
  expect(lease.id).toBe(noted);
  expect(await runs.checkpoint(lease, { step: '1' })).toBe('ok');
  const last = await next();
  expect(await runs.writeChannel(last, { run: told, writes: WRITES })).toBe('ok');
  expect(await runs.writeChannel(last, { run: ended, writes: WRITES })).toBe('ok');
  await settle();
  const all = [first, ended, signaled, noted, told];
  expect(await Promise.all(all.map(isBare))).toEqual([true, false, false, false, false]);
  expect(await own()).toHaveLength(4);
  await removeAll();
  expect(await own()).toEqual([]);
  expect((await kit.stats()).counts.finished).toBe(0);
});

it('tasks of several queues are counted down in their own', async () => {
  const { kit, next, settle, removeAll } = await setUp();
  await kit.addMany(2);
  await kit.addMany(1, { queue: 'bulk' });
  await next();
  await next();
  await next('bulk');
  await settle();
  const finishedOf = async (queue: string) => (await kit.queue(queue))?.counts.finished;
  expect([await finishedOf('default'), await finishedOf('bulk')]).toEqual([2, 1]);
  await removeAll();
  expect([await finishedOf('default'), await finishedOf('bulk')]).toEqual([0, 0]);
});
