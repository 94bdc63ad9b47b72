/** Whose turn it is: between users by weight, within a user by level. */
import type { Leased } from '../../domain/port/backend.ts';
import { LEVELS, type Level } from '../../domain/task/task.ts';
import type { Cases } from '../cases.ts';
import type { Expect } from '../harness.ts';
import { type Kit, LEASE_MS } from '../kit.ts';

/** What rounding may add to a deviation counted in turns. */
const ROUNDING = 1e-6;

/** Turns per user, or per value of `by`. */
function tally(
  leases: readonly Leased[],
  by: (leased: Leased) => string | number,
): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const leased of leases) counts[by(leased)] = (counts[by(leased)] ?? 0) + 1;
  return counts;
}

const byUser = ({ user }: Leased): string => user;
const byLevel = ({ level }: Leased): number => level;

/** Largest distance, in turns, of any user from its exact weighted share after any turn. */
function deviation(leases: readonly Leased[], weights: Readonly<Record<string, number>>): number {
  const total = Object.values(weights).reduce((sum, weight) => sum + weight, 0);
  const got: Record<string, number> = {};
  let worst = 0;
  leases.forEach(({ user }, i) => {
    got[user] = (got[user] ?? 0) + 1;
    for (const [name, weight] of Object.entries(weights)) {
      worst = Math.max(worst, Math.abs((got[name] ?? 0) - ((i + 1) * weight) / total));
    }
  });
  return worst;
}

/** Gives each user its weight (in hundredths) and as many tasks as it can be served. */
async function backlog(
  kit: Kit,
  weights: Readonly<Record<string, number>>,
  each: number,
): Promise<void> {
  for (const [user, weight] of Object.entries(weights)) {
    await kit.setUser(user, { weight });
    await kit.addMany(each, { user });
  }
}

/** Users with one task each, and one with many, are served; then one comes anew. */
async function afterOneEach(
  kit: Kit,
  expect: Expect,
  { n, limit }: { readonly n: number; readonly limit: number },
): Promise<void> {
  for (let from = 0; from < n; from += 100) {
    const users = Array.from({ length: Math.min(100, n - from) }, (_, i) => `one${from + i}`);
    await kit.send(...users.map((user) => ({ user })));
  }
  await kit.addMany(60, { user: 'many' });
  for (let left = n; left > 0; ) {
    const leases = await kit.lease(Math.min(limit, left));
    left -= leases.filter(({ user }) => user !== 'many').length;
    await kit.settleAll(leases, { type: 'finish', result: 'null' });
  }
  expect((await kit.user('many'))?.ahead ?? -9).toBeGreaterThan(-1 - 2 ** -6);
  await kit.add({ user: 'new' });
  expect([byUser(await kit.leaseOne()), byUser(await kit.leaseOne())]).toContain('new');
}

/** Turns by weight, while users come, leave or have more. */
export const betweenUsers: Cases = {
  'gives users of equal weight a turn each, however much one of them has': async (kit, expect) => {
    await kit.addMany(500, { user: 'noisy' });
    for (let i = 0; i < 9; i++) await kit.addMany(3, { user: `quiet${i}` });
    const first = await kit.leaseMany(30);
    expect(new Set(Object.values(tally(first, byUser)))).toEqual(new Set([3]));
  },

  'keeps everybody within one turn of its exact weighted share': async (kit, expect) => {
    for (const weights of [
      { a: 10_000, b: 1_000, c: 100 },
      { d: 700, e: 300, f: 100 },
      { g: 1_733, h: 911, i: 57, j: 412, k: 100, l: 33 },
    ]) {
      await backlog(kit, weights, 300);
      const served = await kit.serve(300, { batch: 10 });
      expect(deviation(served, weights)).toBeLessThanOrEqual(1 + ROUNDING);
      await kit.serve(10_000, { batch: 40 });
    }
  },

  'weight 3 : 1 gives 3 : 1': async (kit, expect) => {
    await backlog(kit, { ann: 300, bob: 100 }, 300);
    expect(tally(await kit.serve(200), byUser)).toEqual({ ann: 150, bob: 50 });
  },

  'keeps to shares across batches of any size, while leases stay in force': async (kit, expect) => {
    await backlog(kit, { ann: 300, bob: 100 }, 300);
    const served: Leased[] = [];
    for (const limit of [1, 7, 62, 2, 31, 1, 1, 50]) served.push(...(await kit.lease(limit)));
    expect(deviation(served, { ann: 3, bob: 1 })).toBeLessThanOrEqual(1 + ROUNDING);
  },

  'a weight that changes acts on the next choice': async (kit, expect) => {
    await backlog(kit, { ann: 100, bob: 100 }, 600);
    await kit.serve(101, { batch: 40 });
    await kit.setUser('ann', { weight: 300 });
    const after = tally(await kit.serve(100, { batch: 40 }), byUser);
    expect(Math.abs((after['ann'] ?? 0) - 75)).toBeLessThanOrEqual(2);
    await kit.setUser('ann', { weight: null });
    const back = tally(await kit.serve(100, { batch: 40 }), byUser);
    expect(Math.abs((back['ann'] ?? 0) - 50)).toBeLessThanOrEqual(2);
  },

  'serves more distinct weights than it has classes, within two turns': async (kit, expect) => {
    const names = Array.from({ length: 45 }, (_, i) => `u${String(i).padStart(2, '0')}`);
    const weights = Object.fromEntries(names.map((name, i) => [name, 100 + i * 37]));
    await backlog(kit, weights, 30);
    const served = await kit.serve(300, { batch: 30 });
    expect(deviation(served, weights)).toBeLessThanOrEqual(2 + ROUNDING);
  },

  // F126
  'serves a newcomer within 2 turns when 10, 100, 1,000 users with one task each have gone': async (
    kit,
    expect,
  ) => {
    for (const [n, limit] of [
      [10, 1],
      [100, 1],
      [100, 7],
      [1_000, 40],
    ] as const) {
      await afterOneEach(kit, expect, { n, limit });
      await kit.serve(10_000, { batch: 40 });
    }
  },

  // F126
  'the same of users with settings': async (kit, expect) => {
    await kit.setQueue({ perUser: { maxRunning: 3 } });
    await afterOneEach(kit, expect, { n: 100, limit: 1 });
    await kit.serve(10_000, { batch: 40 });
    await afterOneEach(kit, expect, { n: 200, limit: 20 });
  },

  'serves a newcomer within ⌈W / w⌉ + 1 turns and gives it no run of turns': async (
    kit,
    expect,
  ) => {
    await backlog(kit, { ann: 100, bob: 100, cat: 100 }, 200);
    await kit.serve(100, { batch: 40 });
    await kit.addMany(50, { user: 'new' });
    const served = await kit.serve(40);
    expect(served.slice(0, 5).map(byUser)).toContain('new');
    expect(deviation(served, { ann: 1, bob: 1, cat: 1, new: 1 })).toBeLessThanOrEqual(2);
  },

  'a user that leaves and comes back gains nothing': async (kit, expect) => {
    await kit.addMany(300, { user: 'steady' });
    let turns = 0;
    for (let i = 0; i < 100; i++) {
      if ((await kit.user('blinker'))?.queued !== 1) await kit.add({ user: 'blinker' });
      const [served] = await kit.serve(1);
      if (served?.user === 'blinker') turns++;
    }
    expect(turns).toBeLessThanOrEqual(51);
    expect(turns).toBeGreaterThanOrEqual(49);
  },

  'who has nothing left and comes back has its debt still': async (kit, expect) => {
    await kit.addMany(30, { user: 'bob' });
    await kit.add({ user: 'ann', cost: 10 });
    await kit.serve(2);
    const later = await kit.add({ user: 'ann' });
    const served = (await kit.serve(20)).map(({ id }) => id);
    expect(served.indexOf(later)).toBe(10);
  },

  'a debt is as many turns of its user at another weight, also when nothing of it waits': async (
    kit,
    expect,
  ) => {
    await kit.addMany(30, { user: 'bob' });
    await kit.add({ user: 'ann', cost: 10 });
    await kit.serve(2);
    await kit.setUser('ann', { weight: 400 });
    const later = await kit.add({ user: 'ann' });
    const served = (await kit.serve(20)).map(({ id }) => id);
    // Nine turns of its own are left, which pass four times as fast as those of weight 100.
    expect(served.indexOf(later)).toBe(6);
  },

  'charges a turn what it costs': async (kit, expect) => {
    await kit.addMany(200, { user: 'heavy', cost: 3 });
    await kit.addMany(200, { user: 'light' });
    const served = tally(await kit.serve(200, { batch: 10 }), byUser);
    expect(Math.abs((served['light'] ?? 0) - 150)).toBeLessThanOrEqual(3);
  },

  'gives the charge of a released lease back': async (kit, expect) => {
    await backlog(kit, { ann: 100, bob: 100 }, 100);
    const turns = new Map<string, number>();
    for (let i = 0; i < 60; i++) {
      const leased = await kit.leaseOne();
      turns.set(leased.user, (turns.get(leased.user) ?? 0) + 1);
      if (leased.user === 'ann') await kit.release(leased);
      else await kit.finish(leased);
    }
    // A user that gives its turns back is asked again soon, and starves no other.
    expect(turns.get('ann') ?? 0).toBeGreaterThanOrEqual(30);
    expect(turns.get('bob') ?? 0).toBeGreaterThanOrEqual(15);
    const after = (await kit.serve(4)).map(byUser);
    expect(after.slice(0, 2)).toContain('ann');
    // No more than that: releases are no claim to turns in a row.
    expect(after).toContain('bob');
  },

  // O30
  'finds one task beside a user with 5,000 at once': async (kit, expect) => {
    await kit.addMany(5_000, { user: 'noisy' });
    await kit.serve(50, { batch: 50 });
    const id = await kit.add({ user: 'quiet' });
    expect(await kit.leaseIds(2)).toContain(id);
  },

  // O32
  'users that may run no more hide no other user': async (kit, expect) => {
    await kit.setQueue({ perUser: { maxRunning: 1 } });
    for (let i = 0; i < 300; i++) await kit.addMany(2, { user: `full${i}` });
    await kit.leaseMany(300);
    expect(await kit.lease(10)).toEqual([]);
    const id = await kit.add({ user: 'free' });
    expect(await kit.leaseIds(10)).toEqual([id]);
  },

  'starts anew when no user has anything left': async (kit, expect) => {
    await backlog(kit, { ann: 100, bob: 100 }, 20);
    await kit.serve(1_000, { batch: 40 });
    await kit.advance(1_000);
    await backlog(kit, { ann: 100, cat: 100 }, 20);
    const served = await kit.serve(20);
    expect(tally(served, byUser)).toEqual({ ann: 10, cat: 10 });
  },
};

/** Adds tasks of each level to one user. */
async function fill(kit: Kit, counts: Readonly<Partial<Record<Level, number>>>): Promise<void> {
  for (const level of LEVELS) {
    const count = counts[level] ?? 0;
    if (count > 0) await kit.addMany(count, { level });
  }
}

/** Turns of one user's tasks by level, and by arrival in each. */
export const withinUser: Cases = {
  'first in, first out in each level': async (kit, expect) => {
    for (const level of [1, 3, 6] as const) {
      const ids = await kit.addMany(20, { level });
      expect((await kit.serve(20, { batch: 6 })).map(({ id }) => id)).toEqual(ids);
    }
  },

  'critical tasks before all others of the same user, never before another user': async (
    kit,
    expect,
  ) => {
    await fill(kit, { 3: 5, 5: 5, 6: 5 });
    await kit.addMany(5, { user: 'bob', level: 1 });
    const served = await kit.serve(10);
    expect(tally(served, byUser)).toEqual({ ann: 5, bob: 5 });
    expect(served.filter(({ user }) => user === 'ann').map(byLevel)).toEqual([6, 6, 6, 6, 6]);
  },

  'levels share turns 1 : 2 : 4 : 8 : 16': async (kit, expect) => {
    await fill(kit, { 1: 100, 2: 100, 3: 100, 4: 100, 5: 100 });
    const served = await kit.serve(155, { batch: 31 });
    expect(tally(served, byLevel)).toEqual({ 1: 5, 2: 10, 3: 20, 4: 40, 5: 80 });
  },

  'levels whose turns fall together have them from the highest down': async (kit, expect) => {
    await fill(kit, { 3: 1, 4: 2, 5: 4 });
    expect((await kit.serve(7)).map(byLevel)).toEqual([5, 5, 4, 5, 5, 4, 3]);
  },

  'levels share turns by the weights of the queue': async (kit, expect) => {
    await kit.setQueue({ priorityWeights: [1, 1, 1, 1, 6] });
    await fill(kit, { 1: 30, 2: 30, 3: 30, 4: 30, 5: 80 });
    const served = await kit.serve(100, { batch: 20 });
    expect(tally(served, byLevel)).toEqual({ 1: 10, 2: 10, 3: 10, 4: 10, 5: 60 });
  },

  'levels share turns by other weights from the next turn on': async (kit, expect) => {
    await kit.setQueue({ priorityWeights: [1, 1, 1, 1, 1] });
    await kit.add({ level: 3 });
    await kit.serve(1);
    await fill(kit, { 3: 3 });
    await kit.serve(1);
    await kit.setQueue({ priorityWeights: [1, 1, 4, 1, 2] });
    await fill(kit, { 3: 6, 5: 6 });
    expect((await kit.serve(6)).map(byLevel)).toEqual([3, 5, 3, 3, 5, 3]);
    await kit.setQueue({ priorityWeights: [1, 1, 2, 1, 4] });
    expect((await kit.serve(6)).map(byLevel)).toEqual([5, 5, 3, 5, 5, 3]);
  },

  'a high task waits two turns behind 2,000 normal ones': async (kit, expect) => {
    await fill(kit, { 3: 2_000 });
    await kit.serve(7);
    const high = await kit.add({ level: 4 });
    expect(await kit.leaseIds(2)).toContain(high);
  },

  'criticalBurst gives one other turn in between': async (kit, expect) => {
    await kit.setQueue({ criticalBurst: 2 });
    await fill(kit, { 3: 10, 6: 10 });
    expect((await kit.serve(7)).map(byLevel)).toEqual([6, 6, 3, 6, 6, 3, 6]);
  },

  'one normal canceled, many high turns, then both: high waits one turn': async (kit, expect) => {
    const normal = await kit.add({ level: 3 });
    await fill(kit, { 4: 600 });
    await kit.serve(1);
    await kit.cancel(normal);
    await kit.serve(500, { batch: 50 });
    await fill(kit, { 3: 60, 4: 60 });
    const levels = (await kit.serve(60)).map(byLevel);
    const waits = levels.map((level, i) => level === 3 && levels[i + 1] === 3);
    expect(waits).not.toContain(true);
  },

  '2,000 normal canceled but one, under a stream of high ones': async (kit, expect) => {
    const normal = await kit.addMany(2_000, { level: 3 });
    await fill(kit, { 4: 10 });
    const served = new Set((await kit.serve(5)).map(({ id }) => id));
    const left = normal.filter((id) => !served.has(id));
    await Promise.all(left.slice(1).map((id) => kit.cancel(id)));
    await fill(kit, { 4: 300 });
    expect(await kit.leaseIds(4)).toContain(left[0]);
  },

  'a task back from its wait after its user drained is served next, not last': async (
    kit,
    expect,
  ) => {
    const id = await kit.add({ level: 3 });
    await kit.retry(await kit.leaseOne(), 5_000);
    await fill(kit, { 3: 1_000, 4: 1_000 });
    await kit.serve(300, { batch: 50 });
    await kit.advance(5_000);
    expect(await kit.leaseIds(3)).toContain(id);
  },

  'a retried, lost or released task comes back to the front of its level': async (kit, expect) => {
    const [id] = await kit.addMany(20);
    await kit.retry(await kit.leaseOne(), 0);
    await kit.release(await kit.leaseOne());
    await kit.leaseOne();
    await kit.addMany(20);
    await kit.advance(LEASE_MS + 1);
    expect(await kit.leaseIds()).toEqual([id]);
  },
};
