import { BUILT_IN, type UserPatch } from '../domain/fairness/settings.ts';
import type { UserInfo } from '../domain/port/backend.ts';
import type { Cases } from './cases.ts';
import type { Kit } from './kit.ts';

const NOTHING: UserPatch = {
  weight: null,
  maxRunning: null,
  maxQueued: null,
  rate: null,
  paused: null,
};

interface Where {
  readonly queue?: string;
  readonly limit?: number;
  readonly configured?: boolean;
}

/** All pages of a listing, none of which is empty. */
async function listed(
  kit: Kit,
  { queue = 'default', limit = 10, configured = true }: Where = {},
): Promise<readonly UserInfo[]> {
  const users: UserInfo[] = [];
  let cursor: string | undefined;
  do {
    const page = await kit.backend.users.list(
      queue,
      cursor === undefined ? { limit } : { limit, cursor },
      { configured },
    );
    if (page.cursor !== undefined) kit.expect(page.items.length).toBe(limit);
    users.push(...page.items);
    cursor = page.cursor;
  } while (cursor !== undefined);
  return users;
}

async function names(kit: Kit, where: Where = {}): Promise<readonly string[]> {
  return (await listed(kit, where)).map(({ user }) => user);
}

/** In the order of bytes; those between them have settings for all queues, or for another one. */
const MIXED = ['Zoe', 'ann', 'bob', 'cat', 'dan', 'eve', 'é', '\u{ff5e}', '\u{1f600}'];

/** Users that have settings: where each setting comes from, and those of them that have no work. */
export const configured: Cases = {
  // F33
  'tells where each setting of a user comes from, field by field': async (kit, expect) => {
    await kit.setQueue({ perUser: { maxQueued: 9, maxRunning: 5, weight: 200 } }, 'bulk');
    await kit.setUser('ann', { maxRunning: 4, weight: 300 });
    await kit.setUser('ann', { weight: 400 }, 'bulk');
    const settings = { weight: 400, maxRunning: 4, maxQueued: 9 };
    const origins = {
      weight: 'user-in-queue',
      maxRunning: 'user',
      maxQueued: 'queue',
      rate: 'built-in',
      paused: 'built-in',
    };
    expect(await kit.user('ann', 'bulk')).toMatchObject({ settings, origins });
    // A user with work has the same, and so do the facts of a task.
    const id = await kit.add({ user: 'ann', queue: 'bulk' });
    expect(await kit.user('ann', 'bulk')).toMatchObject({ queued: 1, settings, origins });
    expect((await kit.backend.inspect.facts(id))?.user).toMatchObject({ settings, origins });
    await kit.add({ user: 'bob', queue: 'bulk' });
    expect((await kit.user('bob', 'bulk'))?.origins).toEqual({
      ...BUILT_IN,
      weight: 'queue',
      maxRunning: 'queue',
      maxQueued: 'queue',
    });
    await kit.setUser('ann', { weight: null }, 'bulk');
    await kit.setUser('ann', { maxRunning: null });
    expect((await kit.user('ann', 'bulk'))?.origins).toEqual({
      ...BUILT_IN,
      weight: 'user',
      maxRunning: 'queue',
      maxQueued: 'queue',
    });
    await kit.setUser('ann', NOTHING);
    await kit.setQueue({ perUser: null }, 'bulk');
    expect((await kit.user('ann', 'bulk'))?.origins).toEqual(BUILT_IN);
  },

  // F33
  'lists who has settings and no work to those alone who ask for it': async (kit, expect) => {
    await kit.setUser('bob', { weight: 300 });
    await kit.setUser('cat', { maxRunning: 2 }, 'bulk');
    await kit.add({ user: 'ann' });
    expect(await names(kit)).toEqual(['ann', 'bob']);
    expect(await names(kit, { configured: false })).toEqual(['ann']);
    const { items } = await kit.backend.users.list('default', { limit: 10 });
    expect(items).toMatchObject([{ user: 'ann' }]);
    // Who has settings for one queue is known there, and nowhere else.
    expect(await names(kit, { queue: 'bulk' })).toEqual(['bob', 'cat']);
    expect(await names(kit, { queue: 'bulk', configured: false })).toEqual(['cat']);
    expect(await names(kit, { queue: 'never used' })).toEqual(['bob']);
    const [, bob] = await listed(kit);
    expect(bob).toEqual({
      user: 'bob',
      queue: 'default',
      settings: { weight: 300 },
      origins: { ...BUILT_IN, weight: 'user' },
      queued: 0,
      levels: [0, 0, 0, 0, 0, 0],
      running: 0,
      later: 0,
      ready: false,
      ahead: 0,
    });
    expect(await kit.user('bob')).toEqual(bob);
    // Looking has stored nothing.
    expect(await names(kit, { configured: false })).toEqual(['ann']);
    expect((await kit.backend.queues.list()).map(({ queue }) => queue).toSorted()).toEqual([
      'bulk',
      'default',
    ]);
  },

  // F33
  'lists mixed users page by page, each once': async (kit, expect) => {
    for (const [i, user] of MIXED.entries()) {
      if (i % 3 === 0) await kit.add({ user });
      if (i % 3 === 1) await kit.setUser(user, { weight: 300 });
      if (i % 3 === 2) await kit.setUser(user, { weight: 300 }, 'default');
      // Some have both, and some settings for another queue too.
      if (i % 4 === 0) await kit.setUser(user, { maxRunning: 7 });
      if (i % 2 === 0) await kit.setUser(user, { maxQueued: 8 }, 'bulk');
      await kit.setUser(`${user}-elsewhere`, { maxQueued: 8 }, 'other');
    }
    for (const limit of [1, 2, 3, MIXED.length - 1, MIXED.length, 500]) {
      expect(await names(kit, { limit })).toEqual(MIXED);
    }
    const inBulk = MIXED.filter((_, i) => i % 3 === 1 || i % 2 === 0);
    expect(await names(kit, { limit: 2, queue: 'bulk' })).toEqual(inBulk);
    // A user that comes or goes between two pages moves no other.
    const first = await kit.backend.users.list('default', { limit: 3 }, { configured: true });
    await kit.setUser('aaa', { weight: 100 });
    await kit.setUser('ann', NOTHING);
    await kit.setUser('cat-new', { weight: 100 });
    const page = { limit: 500, cursor: first.cursor ?? '' };
    const rest = await kit.backend.users.list('default', page, { configured: true });
    expect(rest.items.map(({ user }) => user)).toEqual(['cat', 'cat-new', ...MIXED.slice(4)]);
  },

  // F33
  'no longer lists a user whose settings are taken back': async (kit, expect) => {
    await kit.setUser('bob', { weight: 300, maxRunning: 2 });
    await kit.setUser('bob', { weight: 400 }, 'bulk');
    await kit.setUser('bob', { weight: null });
    expect(await names(kit)).toEqual(['bob']);
    await kit.setUser('bob', { maxRunning: null });
    expect(await names(kit)).toEqual([]);
    expect(await kit.user('bob')).toBeUndefined();
    expect(await names(kit, { queue: 'bulk' })).toEqual(['bob']);
    await kit.setUser('bob', NOTHING, 'bulk');
    expect(await names(kit, { queue: 'bulk' })).toEqual([]);
    // With work it stays, until that has ended and is forgotten.
    await kit.setUser('cat', { weight: 300 });
    const id = await kit.add({ user: 'cat' });
    await kit.setUser('cat', NOTHING);
    expect(await listed(kit)).toMatchObject([{ user: 'cat', queued: 1, origins: BUILT_IN }]);
    await kit.setUser('cat', { maxRunning: 1 });
    await kit.runToEnd(id);
    await kit.rest();
    expect(await listed(kit)).toMatchObject([
      { user: 'cat', queued: 0, origins: { maxRunning: 'user' } },
    ]);
  },
};
