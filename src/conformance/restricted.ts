/** Workers with assigned users and steal targets. */

import { LIMITS } from '../domain/limits.ts';
import type { Leased, WorkerSpec } from '../domain/port/backend.ts';
import type { Cases } from './cases.ts';
import type { Kit } from './kit.ts';

function usersOf(leases: readonly Leased[]): readonly string[] {
  return leases.map(({ user }) => user);
}

/** Longest run of turns of one user. */
function longestRun(users: readonly string[], of: string): number {
  let longest = 0;
  let run = 0;
  for (const user of users) {
    run = user === of ? run + 1 : 0;
    longest = Math.max(longest, run);
  }
  return longest;
}

/** A worker assigned to these users; a second argument says whom else it may serve. */
function pool(
  kit: Kit,
  id: string,
  assignedUsers: readonly string[],
  stealTargets?: WorkerSpec['stealTargets'],
): Promise<void> {
  return kit.worker(id, { assignedUsers, ...(stealTargets === undefined ? {} : { stealTargets }) });
}

/** Whom such a worker serves, and in which order. */
export const choosing: Cases = {
  'serves the assigned users and no others': async (kit, expect) => {
    await pool(kit, 'a', ['ann', 'cat']);
    await kit.addMany(2, { user: 'ann' });
    await kit.addMany(2, { user: 'bob' });
    await kit.addMany(2, { user: 'cat' });
    const users = usersOf(await kit.lease(10, { worker: 'a' }));
    expect(users.toSorted()).toEqual(['ann', 'ann', 'cat', 'cat']);
    expect(await kit.lease(10, { worker: 'a' })).toEqual([]);
    expect(usersOf(await kit.lease(10))).toEqual(['bob', 'bob']);
  },

  'serves its steal targets only when the assigned have nothing': async (kit, expect) => {
    await pool(kit, 'a', ['ann'], 'any');
    await pool(kit, 'b', ['bob']);
    await kit.addMany(3, { user: 'ann' });
    await kit.addMany(3, { user: 'bob' });
    const users = usersOf(await kit.lease(5, { worker: 'a' }));
    expect(users).toEqual(['ann', 'ann', 'ann', 'bob', 'bob']);
    expect((await kit.stats()).totals.stolen).toBe(2);
  },

  'steals from the named ones only': async (kit, expect) => {
    await pool(kit, 'a', ['ann'], ['bob']);
    await pool(kit, 'b', ['bob', 'cat']);
    for (const user of ['ann', 'bob', 'cat']) await kit.addMany(2, { user });
    const users = usersOf(await kit.lease(10, { worker: 'a' }));
    expect(users).toEqual(['ann', 'ann', 'bob', 'bob']);
  },

  'a user without an assigned worker has turns with every worker that may steal': async (
    kit,
    expect,
  ) => {
    await pool(kit, 'a', ['ann'], 'any');
    await kit.addMany(50, { user: 'ann' });
    await kit.addMany(50, { user: 'nobodys' });
    const users = usersOf(await kit.serve(20, { worker: 'a' }));
    expect(users.filter((user) => user === 'nobodys').length).toBeGreaterThanOrEqual(9);
    expect(longestRun(users, 'ann')).toBeLessThanOrEqual(2);
    expect((await kit.stats()).totals.stolen).toBe(0);
  },

  'also where the steal targets are a list': async (kit, expect) => {
    await pool(kit, 'a', ['ann'], ['nobodys', 'bob']);
    await pool(kit, 'b', ['bob']);
    for (const user of ['ann', 'bob', 'nobodys']) await kit.addMany(50, { user });
    const users = usersOf(await kit.serve(20, { worker: 'a' }));
    expect(users).not.toContain('bob');
    expect(users.filter((user) => user === 'nobodys').length).toBeGreaterThanOrEqual(9);
  },

  'an unrestricted worker serves every user, assigned to others or not': async (kit, expect) => {
    await pool(kit, 'a', ['ann']);
    for (const user of ['ann', 'bob', 'cat']) await kit.addMany(20, { user });
    const users = usersOf(await kit.serve(30));
    for (const user of ['ann', 'bob', 'cat']) {
      expect(users.filter((each) => each === user)).toHaveLength(10);
    }
  },

  'weights and limits hold in a pool': async (kit, expect) => {
    await pool(kit, 'a', ['ann', 'bob', 'cat']);
    await kit.setUser('ann', { weight: 300 });
    await kit.setUser('cat', { maxRunning: 1 });
    for (const user of ['ann', 'bob', 'cat']) await kit.addMany(100, { user });
    const users = usersOf(await kit.lease(40, { worker: 'a' }));
    const of = (name: string): number => users.filter((user) => user === name).length;
    expect(of('cat')).toBe(1);
    expect(Math.abs(of('ann') - 3 * of('bob'))).toBeLessThanOrEqual(3);
  },

  'stolen turns are charged to whom they served': async (kit, expect) => {
    await pool(kit, 'a', [], 'any');
    await pool(kit, 'b', ['bob', 'bea']);
    await kit.addMany(50, { user: 'bob' });
    await kit.serve(10, { worker: 'a' });
    await kit.addMany(50, { user: 'bea' });
    const users = usersOf(await kit.serve(20, { worker: 'b' }));
    expect(longestRun(users, 'bea')).toBeLessThanOrEqual(2);
    expect(longestRun(users, 'bob')).toBeLessThanOrEqual(2);
  },
};

/**
 * Lists of users with a clock of their own: who comes, leaves or changes gains and loses no turns.
 */
export const pools: Cases = {
  'a newcomer in a slow pool waits for no other pool’s clock': async (kit, expect) => {
    await pool(kit, 'slow', ['s1', 's2', 'new']);
    await pool(kit, 'fast', ['f1', 'f2']);
    for (const user of ['s1', 's2']) await kit.addMany(100, { user });
    for (const user of ['f1', 'f2']) await kit.addMany(400, { user });
    await kit.serve(10, { worker: 'slow' });
    await kit.serve(600, { worker: 'fast', batch: 50 });
    await kit.addMany(20, { user: 'new' });
    const users = usersOf(await kit.serve(30, { worker: 'slow' }));
    expect(users.slice(0, 4)).toContain('new');
    expect(longestRun(users, 'new')).toBeLessThanOrEqual(2);
    expect(users.filter((user) => user === 'new').length).toBeGreaterThanOrEqual(9);
  },

  'a newcomer in a fast pool takes no turns in a row': async (kit, expect) => {
    await pool(kit, 'slow', ['s1', 's2']);
    await pool(kit, 'fast', ['f1', 'f2', 'new']);
    for (const user of ['s1', 's2']) await kit.addMany(100, { user });
    for (const user of ['f1', 'f2']) await kit.addMany(400, { user });
    await kit.serve(10, { worker: 'slow' });
    await kit.serve(600, { worker: 'fast', batch: 50 });
    await kit.addMany(50, { user: 'new' });
    const users = usersOf(await kit.serve(60, { worker: 'fast' }));
    expect(longestRun(users, 'new')).toBeLessThanOrEqual(2);
    expect(Math.abs(users.filter((user) => user === 'new').length - 20)).toBeLessThanOrEqual(2);
  },

  'a weight that changes in a slow pool sends no user to the end': async (kit, expect) => {
    await pool(kit, 'slow', ['s1', 's2']);
    await pool(kit, 'fast', ['f1', 'f2']);
    for (const user of ['s1', 's2']) await kit.addMany(100, { user });
    for (const user of ['f1', 'f2']) await kit.addMany(400, { user });
    await kit.serve(10, { worker: 'slow' });
    await kit.serve(600, { worker: 'fast', batch: 50 });
    await kit.setUser('s1', { weight: 300 });
    const users = usersOf(await kit.serve(40, { worker: 'slow' }));
    expect(Math.abs(users.filter((user) => user === 's1').length - 30)).toBeLessThanOrEqual(3);
  },

  'leaving and coming back in a slow pool gains nothing': async (kit, expect) => {
    await pool(kit, 'slow', ['s1', 's2', 'blinker']);
    await pool(kit, 'fast', ['f1', 'f2']);
    for (const user of ['s1', 's2']) await kit.addMany(100, { user });
    for (const user of ['f1', 'f2']) await kit.addMany(400, { user });
    await kit.serve(6, { worker: 'slow' });
    await kit.serve(600, { worker: 'fast', batch: 50 });
    let turns = 0;
    for (let i = 0; i < 60; i++) {
      if ((await kit.user('blinker'))?.queued !== 1) await kit.add({ user: 'blinker' });
      const [served] = await kit.serve(1, { worker: 'slow' });
      if (served?.user === 'blinker') turns++;
    }
    expect(turns).toBeGreaterThanOrEqual(18);
    expect(turns).toBeLessThanOrEqual(22);
  },

  'mixed with unrestricted workers no user gets a run of turns': async (kit, expect) => {
    await pool(kit, 'a', ['ann', 'bob']);
    for (const user of ['ann', 'bob', 'cat', 'dan']) await kit.addMany(300, { user });
    const served: string[] = [];
    for (let i = 0; i < 60; i++) {
      served.push(...usersOf(await kit.serve(1, { worker: 'a' })));
      served.push(...usersOf(await kit.serve(2)));
    }
    for (const user of ['ann', 'bob', 'cat', 'dan']) {
      expect(longestRun(served, user)).toBeLessThanOrEqual(4);
      expect(served.filter((each) => each === user).length).toBeGreaterThanOrEqual(36);
    }
  },

  'users of a worker that fell silent are unassigned, and found by those that may steal': async (
    kit,
    expect,
  ) => {
    await pool(kit, 'a', ['ann'], 'any');
    await pool(kit, 'b', ['bob']);
    await kit.addMany(40, { user: 'ann' });
    await kit.addMany(40, { user: 'bob' });
    expect(usersOf(await kit.serve(4, { worker: 'a' }))).not.toContain('bob');
    for (let passed = 0; passed <= LIMITS.workerSilenceMs; passed += 5_000) {
      await kit.advance(5_000);
      await kit.serve(1, { worker: 'a' });
    }
    const users = usersOf(await kit.serve(10, { worker: 'a' }));
    expect(users.filter((user) => user === 'bob').length).toBeGreaterThanOrEqual(4);
  },

  'users of a worker that left are unassigned at once': async (kit, expect) => {
    await pool(kit, 'a', ['ann'], 'any');
    await pool(kit, 'b', ['bob']);
    await kit.addMany(20, { user: 'ann' });
    await kit.addMany(20, { user: 'bob' });
    await kit.backend.workers.unregister('b');
    await kit.rest();
    const users = usersOf(await kit.serve(10, { worker: 'a' }));
    expect(users.filter((user) => user === 'bob').length).toBeGreaterThanOrEqual(4);
  },

  'a list lives as long as one of its workers': async (kit, expect) => {
    await pool(kit, 'a1', ['ann', 'amy']);
    await pool(kit, 'a2', ['amy', 'ann']);
    await kit.backend.workers.unregister('a1');
    await kit.rest();
    await kit.add({ user: 'amy' });
    await kit.add({ user: 'bob' });
    expect(usersOf(await kit.lease(5, { worker: 'a2' }))).toEqual(['amy']);
  },

  'a worker that announces other users serves those': async (kit, expect) => {
    await pool(kit, 'a', ['ann']);
    await kit.add({ user: 'ann' });
    await kit.add({ user: 'bob' });
    await pool(kit, 'a', ['bob']);
    expect(usersOf(await kit.lease(5, { worker: 'a' }))).toEqual(['bob']);
    await kit.worker('a');
    expect(usersOf(await kit.lease(5, { worker: 'a' }))).toEqual(['ann']);
  },

  'finds work that came before the worker, and work that came after': async (kit, expect) => {
    await kit.add({ user: 'ann' });
    await pool(kit, 'a', ['ann', 'bob']);
    expect(usersOf(await kit.lease(5, { worker: 'a' }))).toEqual(['ann']);
    await kit.add({ user: 'bob' });
    expect(usersOf(await kit.lease(5, { worker: 'a' }))).toEqual(['bob']);
  },

  'takes a list of 1,000 users': async (kit, expect) => {
    const names = Array.from({ length: LIMITS.listNames }, (_, i) => `u${i}`);
    await pool(kit, 'a', names);
    await kit.add({ user: 'u999' });
    await kit.add({ user: 'other' });
    expect(usersOf(await kit.lease(5, { worker: 'a' }))).toEqual(['u999']);
  },

  'refuses a user on more lists than it may be on': async (kit, expect) => {
    for (let i = 0; i < LIMITS.listsPerUser; i++) await pool(kit, `a${i}`, ['ann', `u${i}`]);
    const refused = await pool(kit, 'one-more', ['ann', 'zoe']).then(
      () => 'accepted',
      (error: { readonly code?: string }) => error.code,
    );
    expect(refused).toBe('INVALID_OPTION');
    await kit.add({ user: 'ann' });
    expect(usersOf(await kit.lease(5, { worker: 'a7' }))).toEqual(['ann']);
  },

  'look at their users when they begin, and when they are gone': async (kit, expect) => {
    await kit.setUser('ann', { rate: { limit: 1, perMs: 1_000, burst: 1 } });
    await kit.addMany(3);
    await kit.leaseOne();
    await kit.shift(1_000);
    expect(await kit.user('ann')).toMatchObject({ ready: false });
    await kit.worker('r', { assignedUsers: ['ann'] });
    expect(await kit.user('ann')).toMatchObject({ ready: true });
    await kit.leaseOne();
    await kit.shift(1_000);
    await kit.backend.workers.unregister('r');
    expect(await kit.user('ann')).toMatchObject({ ready: true });
  },
};
