/** What a user or a queue may do at most, and that nothing is left waiting once it may again. */
import type { Leased } from '../../domain/port/backend.ts';
import type { Cases } from '../cases.ts';
import { type Kit, LEASE_MS } from '../kit.ts';

/** Pauses, caps and rates of a user. */
export const users: Cases = {
  'a lease tells the end of its own leases, if nothing is due before': async (kit, expect) => {
    for (let n = 0; n < 3; n++) {
      await kit.addMany(2);
      const { nextDueAt = Infinity } = await kit.leaseReply({ limit: 1, leaseMs: 1_000 + n });
      expect(nextDueAt).toBeLessThanOrEqual(kit.now() + 1_000);
    }
  },

  'a worker that settles its last lease and finds nothing is told of no lease': async (
    kit,
    expect,
  ) => {
    await kit.add();
    const { id, token } = await kit.leaseOne();
    const settlements = [{ id, token, decision: { type: 'finish', result: 'null' } as const }];
    const lease = kit.request({ wait: true });
    const reply = await kit.backend.tasks.settle({ worker: 'w', settlements, lease });
    expect(reply.lease?.nextDueAt ?? Infinity).toBeGreaterThan(kit.now() + LEASE_MS);
  },

  'a paused user gets no turn, and all of them back': async (kit, expect) => {
    const ids = await kit.addMany(3);
    await kit.setUser('ann', { paused: true });
    expect(await kit.lease(5)).toEqual([]);
    expect(await kit.runnable()).toBe(0);
    await kit.add({ user: 'bob' });
    expect(await kit.leaseIds(5)).toHaveLength(1);
    await kit.setUser('ann', { paused: false });
    expect(await kit.runnable()).toBe(3);
    expect(await kit.leaseIds(5)).toEqual(ids);
  },

  'maxRunning holds within one lease and over many': async (kit, expect) => {
    await kit.setUser('ann', { maxRunning: 2 });
    await kit.addMany(5);
    await kit.addMany(5, { user: 'bob' });
    const leases = await kit.lease(10);
    expect(leases.filter(({ user }) => user === 'ann')).toHaveLength(2);
    expect(leases).toHaveLength(7);
    expect(await kit.lease(10)).toEqual([]);
    expect(await kit.user('ann')).toMatchObject({ running: 2, queued: 3, ready: false });
  },

  'a limit that is raised or taken away acts at once': async (kit, expect) => {
    await kit.setUser('ann', { maxRunning: 1 });
    await kit.addMany(6);
    expect(await kit.lease(10)).toHaveLength(1);
    await kit.setUser('ann', { maxRunning: 3 });
    expect(await kit.lease(10)).toHaveLength(2);
    await kit.setUser('ann', { maxRunning: null });
    expect(await kit.lease(10)).toHaveLength(3);
  },

  'a limit below what runs stops nothing that runs': async (kit, expect) => {
    await kit.addMany(6);
    const leases = await kit.lease(3);
    await kit.setUser('ann', { maxRunning: 1 });
    expect(await kit.lease(10)).toEqual([]);
    await kit.settleAll(leases.slice(0, 2), { type: 'finish', result: '1' });
    expect(await kit.lease(10)).toEqual([]);
    await kit.settleAll(leases.slice(2), { type: 'finish', result: '1' });
    expect(await kit.lease(10)).toHaveLength(1);
  },

  'a rate lets a burst through, and then one at a time, in time': async (kit, expect) => {
    await kit.setUser('ann', { rate: { limit: 2, perMs: 1_000, burst: 3 } });
    await kit.addMany(10);
    const start = kit.now();
    const first = await kit.leaseReply({ limit: 10 });
    expect(first.leases).toHaveLength(3);
    const { nextDueAt } = await kit.leaseReply({ limit: 10 });
    expect(nextDueAt).toBe(start + 500);
    for (let i = 0; i < 4; i++) {
      await kit.shift(499);
      expect(await kit.lease(10)).toEqual([]);
      await kit.shift(1);
      expect(await kit.lease(10)).toHaveLength(1);
    }
  },

  'a rate that is spent outlives the work of its user': async (kit, expect) => {
    const rate = { limit: 1, perMs: 60_000, burst: 1 };
    await kit.setUser('ann', { rate });
    await kit.setQueue({ perUser: { rate } });
    for (const user of ['ann', 'bob']) await kit.runToEnd(await kit.add({ user }));
    const ids = [await kit.add({ user: 'ann' }), await kit.add({ user: 'bob' })];
    expect(await kit.leaseIds(5)).toEqual([]);
    await kit.advance(60_000);
    expect([...(await kit.leaseIds(5))].sort()).toEqual([...ids].sort());
  },

  // O42
  'a rate goes on although what it let through was lost': async (kit, expect) => {
    await kit.setUser('ann', { rate: { limit: 1, perMs: 20_000, burst: 1 } });
    const ids = await kit.addMany(2);
    expect(await kit.leaseIds(5)).toEqual([ids[0]]);
    await kit.advance(LEASE_MS + 1);
    expect(await kit.lease(5)).toEqual([]);
    await kit.advance(20_000 - LEASE_MS);
    expect(await kit.leaseIds(5)).toEqual([ids[0]]);
  },

  'gives the rate of a released lease back': async (kit, expect) => {
    await kit.setUser('ann', { rate: { limit: 1, perMs: 60_000, burst: 1 } });
    const id = await kit.add();
    await kit.release(await kit.leaseOne());
    expect(await kit.leaseIds(5)).toEqual([id]);
  },

  'capped and throttled at once: both must end, in either order': async (kit, expect) => {
    for (const capFirst of [true, false]) {
      const user = `both-${capFirst}`;
      await kit.setUser(user, { maxRunning: 1, rate: { limit: 1, perMs: 2_000, burst: 1 } });
      await kit.addMany(2, { user });
      const leased = await kit.leaseOne();
      expect(await kit.lease(5)).toEqual([]);
      if (capFirst) await kit.finish(leased);
      else await kit.advance(2_000);
      expect(await kit.lease(5)).toEqual([]);
      if (capFirst) await kit.advance(2_000);
      else await kit.finish(leased);
      const [next] = await kit.lease(5);
      expect(next?.user).toBe(user);
      if (next !== undefined) await kit.finish(next);
    }
  },

  'paused, capped and throttled at once: one that ends frees no task': async (kit, expect) => {
    const rate = { limit: 1, perMs: 1_000, burst: 1 };
    await kit.setUser('ann', { maxRunning: 1, rate });
    await kit.addMany(3);
    const leased = await kit.leaseOne();
    await kit.setUser('ann', { paused: true });
    await kit.advance(5_000);
    await kit.finish(leased);
    expect(await kit.lease(5)).toEqual([]);
    await kit.setUser('ann', { paused: null });
    expect(await kit.lease(5)).toHaveLength(1);
  },

  'a rate that is taken away acts at once': async (kit, expect) => {
    await kit.setUser('ann', { rate: { limit: 1, perMs: 3_600_000, burst: 1 } });
    await kit.addMany(3);
    expect(await kit.lease(5)).toHaveLength(1);
    await kit.setUser('ann', { rate: null });
    expect(await kit.lease(5)).toHaveLength(2);
  },

  'settings come from the user in the queue, the user, the queue, in this order': async (
    kit,
    expect,
  ) => {
    await kit.setQueue({ perUser: { weight: 200, maxRunning: 5, maxQueued: 100 } });
    await kit.setUser('ann', { weight: 300, maxRunning: 6 });
    await kit.setUser('ann', { weight: 400 }, 'default');
    await kit.add();
    await kit.add({ queue: 'bulk' });
    await kit.add({ user: 'bob' });
    const inDefault = { weight: 400, maxRunning: 6, maxQueued: 100 };
    expect((await kit.user('ann'))?.settings).toMatchObject(inDefault);
    expect((await kit.user('ann', 'bulk'))?.settings).toMatchObject({ weight: 300, maxRunning: 6 });
    expect((await kit.user('bob'))?.settings).toMatchObject({ weight: 200, maxRunning: 5 });
    await kit.setUser('ann', { weight: null }, 'default');
    expect((await kit.user('ann'))?.settings).toMatchObject({ weight: 300 });
  },

  'defaults of the queue act on users that have work already': async (kit, expect) => {
    await kit.addMany(5);
    await kit.setQueue({ perUser: { maxRunning: 2 } });
    expect(await kit.lease(10)).toHaveLength(2);
    await kit.setQueue({ perUser: null });
    expect(await kit.lease(10)).toHaveLength(3);
  },

  'settings stay while the user has nothing': async (kit, expect) => {
    await kit.setUser('ann', { maxRunning: 1 });
    await kit.runToEnd(await kit.add());
    await kit.advance(10_000);
    await kit.addMany(3);
    expect(await kit.lease(5)).toHaveLength(1);
  },
};

/** Every way out of a lease frees the place of its task, in order of the list. */
const WAYS_OUT: Readonly<Record<string, (kit: Kit, leased: Leased) => Promise<unknown>>> = {
  finish: (kit, leased) => kit.finish(leased),
  'dead letter': (kit, leased) => kit.fail(leased),
  'retry later': (kit, leased) => kit.retry(leased, 60_000),
  'retry at once': (kit, leased) => kit.retry(leased, 0),
  release: (kit, leased) => kit.release(leased),
  'release later': (kit, leased) => kit.release(leased, 60_000),
  'lost lease': (kit) => kit.advance(LEASE_MS + 1),
  'cancel by the handler': (kit, leased) =>
    kit.settle(leased, { type: 'cancel', cause: { type: 'decider', reason: 'so' } }),
  'cancel asked for': async (kit, leased) => {
    await kit.cancel(leased.id);
    await kit.finish(leased);
  },
};

async function frees(kit: Kit, way: (kit: Kit, leased: Leased) => Promise<unknown>): Promise<void> {
  const { expect } = kit;
  await kit.setUser('ann', { maxRunning: 1 });
  await kit.setQueue({ maxRunning: 1 });
  await kit.addMany(2);
  const leased = await kit.leaseOne();
  expect(await kit.lease(5)).toEqual([]);
  await way(kit, leased);
  expect(await kit.user('ann')).toMatchObject({ running: 0, ready: true });
  expect(await kit.lease(5)).toHaveLength(1);
}

/** A place under a cap is free again after every way in which a task leaves it. */
export const places: Cases = Object.fromEntries(
  Object.entries(WAYS_OUT).map(([way, out]) => [
    // O28
    `frees the place of a task: ${way}`,
    (kit: Kit) => frees(kit, out),
  ]),
);

/** Pauses, caps and rates of a whole queue. */
export const queues: Cases = {
  'a paused queue gives nothing, the others do': async (kit, expect) => {
    await kit.add();
    const other = await kit.add({ queue: 'bulk' });
    await kit.setQueue({ paused: true });
    const both = { queues: [share('default'), share('bulk')] };
    expect(await kit.leaseIds(5, both)).toEqual([other]);
    await kit.setQueue({ paused: null });
    expect(await kit.lease(5, both)).toHaveLength(1);
  },

  'maxRunning of a queue holds over all its users': async (kit, expect) => {
    await kit.setQueue({ maxRunning: 3 });
    for (const user of ['ann', 'bob', 'cat']) await kit.addMany(3, { user });
    const leases = await kit.lease(10);
    expect(leases).toHaveLength(3);
    expect(await kit.lease(10)).toEqual([]);
    await kit.settleAll(leases.slice(0, 2), { type: 'finish', result: '1' });
    expect(await kit.lease(10)).toHaveLength(2);
  },

  'a rate of a queue says when it gives again': async (kit, expect) => {
    await kit.setQueue({ rate: { limit: 1, perMs: 1_000, burst: 2 } });
    for (const user of ['ann', 'bob']) await kit.addMany(3, { user });
    expect(await kit.lease(10)).toHaveLength(2);
    const gated = await kit.leaseReply({ limit: 10 });
    expect(gated).toMatchObject({ leases: [], nextDueAt: kit.now() + 1_000 });
    await kit.shift(1_000);
    expect(await kit.lease(10)).toHaveLength(1);
  },

  'two queues, one user: turns and limits count in each': async (kit, expect) => {
    await kit.setUser('ann', { maxRunning: 2 });
    await kit.addMany(5);
    await kit.addMany(5, { queue: 'bulk' });
    expect(await kit.lease(10)).toHaveLength(2);
    expect(await kit.lease(10, { queues: [share('bulk')] })).toHaveLength(2);
    expect(await kit.user('ann', 'bulk')).toMatchObject({ running: 2, queued: 3 });
    await kit.setUser('ann', { paused: true }, 'bulk');
    expect(await kit.user('ann')).toMatchObject({ ready: false, running: 2 });
    await kit.setUser('ann', { maxRunning: 4 });
    expect(await kit.lease(10, { queues: [share('bulk')] })).toEqual([]);
    expect(await kit.lease(10)).toHaveLength(2);
  },

  'one lease takes from queues by their weights, and from those that have work': async (
    kit,
    expect,
  ) => {
    await kit.addMany(40);
    await kit.addMany(4, { queue: 'bulk' });
    const shares = [share('default', 3), share('bulk', 1)];
    const first = await kit.lease(8, { queues: shares });
    expect(first.filter(({ queue }) => queue === 'bulk')).toHaveLength(2);
    const second = await kit.lease(20, { queues: shares });
    expect(second.filter(({ queue }) => queue === 'bulk')).toHaveLength(2);
    expect(second).toHaveLength(20);
  },

  'a queue asked for with a lower pass comes first': async (kit, expect) => {
    await kit.add();
    const id = await kit.add({ queue: 'bulk' });
    const shares = [{ ...share('default'), pass: 5 }, share('bulk')];
    expect(await kit.leaseIds(1, { queues: shares })).toEqual([id]);
  },

  'runnable counts what would start at once': async (kit, expect) => {
    await kit.addMany(5);
    await kit.addMany(2, { user: 'bob' });
    await kit.add({ user: 'cat', delayMs: 1_000 });
    expect(await kit.runnable()).toBe(7);
    await kit.setUser('ann', { maxRunning: 3 });
    expect(await kit.runnable()).toBe(5);
    const leases = await kit.lease(2);
    expect(await kit.runnable()).toBe(3);
    await kit.settleAll(leases, { type: 'finish', result: '1' });
    expect(await kit.runnable()).toBe(4);
    expect(await kit.queue()).toMatchObject({ runnable: 4, readyUsers: 2 });
    await kit.advance(1_000);
    expect(await kit.runnable()).toBe(5);
  },
};

function share(queue: string, weight = 1): { queue: string; weight: number; pass: number } {
  return { queue, weight, pass: 0 };
}
