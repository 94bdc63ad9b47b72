/** What is kept of users without settings: while something is known of them, and no longer. */
import { describe, expect, inject, it } from 'vitest';
import { adminOf, freshPrefix, kitOn } from './faults/kit.ts';

async function setUp() {
  const prefix = freshPrefix();
  const kit = await kitOn(inject('redisUrl'), prefix);
  const raw = adminOf();
  await kit.worker('w');
  return {
    kit,
    raw,
    key: (name: string): string => `${prefix}:${name}`,
    names: () => raw.zrange(`${prefix}:users`, 0, '-1'),
    listed: async () => {
      const { items } = await kit.backend.users.list('default', { limit: 200 });
      return items.map(({ user }) => user);
    },
  };
}

/** One task, from its enqueue to its end. */
async function process({ kit }: Awaited<ReturnType<typeof setUp>>, user: string): Promise<void> {
  await kit.add({ user });
  await kit.finish(await kit.leaseOne());
}

describe('names of users', () => {
  it('go while the queue never rests, and who has nothing but a running task is found', async () => {
    const on = await setUp();
    const { kit, raw, key, names, listed } = on;
    await kit.add({ user: 'runs' });
    const running = await kit.leaseOne();
    for (let turn = 0; turn < 300; turn++) {
      await process(on, `once${turn}`);
      await process(on, 'steady');
    }
    expect((await names()).length).toBeLessThan(120);
    expect(await raw.zcard(key('kept-tags'))).toBeLessThan(120);
    expect(await names()).not.toContain('runs');
    expect(await listed()).toContain('runs');
    expect(await kit.backend.users.get('runs', 'default')).toMatchObject({ running: 1, queued: 0 });
    expect((await kit.backend.inspect.reconcile({ repair: false })).drift).toEqual([]);
    await kit.release(running);
    expect(await names()).toContain('runs');
  });

  it('go when the queue rests, many with maintenance, but for those that are back', async () => {
    const { kit, raw, key, names, listed } = await setUp();
    const users = Array.from({ length: 400 }, (_, at) => `user${at}`);
    await kit.send(...users.map((user) => ({ id: user, user })));
    const served = await kit.leaseMany(120);
    const ids = new Set(served.map(({ id }) => id));
    // While many wait, virtual time hardly moves: who was served is ahead of it until the queue rests.
    for (const id of users.filter((user) => !ids.has(user))) {
      await kit.backend.tasks.cancel(id, { type: 'request' });
    }
    for (const leased of served) await kit.finish(leased);
    expect(await listed()).toEqual([]);
    expect((await raw.keys(key('old-tags:*'))).length).toBe(1);
    await kit.add({ user: 'user7' });
    while ((await kit.backend.tasks.tick()).more) {
      // In steps.
    }
    expect(await names()).toEqual(['user7']);
    expect(await raw.keys(key('old-tags:*'))).toEqual([]);
    await kit.finish(await kit.leaseOne());
    expect(await names()).toEqual([]);
  });

  it.each([
    ['queue', 3],
    ['user', 3],
    ['user in the queue', 3],
    ['queue', 1],
    ['user', 1],
  ] as const)(
    'settings of the %s that come later hold for who has nothing but a running task (level %i)',
    async (whose, level) => {
      const on = await setUp();
      const { kit, names } = on;
      await kit.add({ user: 'runs' });
      const running = await kit.leaseOne();
      for (let turn = 0; turn < 60; turn++) {
        await process(on, `once${turn}`);
        await process(on, 'steady');
      }
      expect(await names()).not.toContain('runs');
      // A level gives it a record, which is nothing to count by.
      if (level !== 3) await kit.add({ user: 'runs', level });
      const limit = { maxRunning: 1 };
      if (whose === 'queue') await kit.backend.queues.set('default', { perUser: limit });
      else {
        await kit.backend.users.set('runs', limit, whose === 'user' ? {} : { queue: 'default' });
      }
      await kit.add({ user: 'runs', level });
      expect(await kit.lease(10)).toEqual([]);
      expect((await kit.backend.inspect.reconcile({ repair: false })).drift).toEqual([]);
      await kit.finish(running);
      expect(await kit.lease(10)).toHaveLength(1);
    },
  );

  it('stay while tasks are scheduled', async () => {
    const { kit, names, listed } = await setUp();
    await kit.add({ user: 'later', delayMs: 3_600_000 });
    await kit.add({ user: 'ann' });
    await kit.finish(await kit.leaseOne());
    expect(await names()).toEqual(['later']);
    expect(await listed()).toEqual(['later']);
  });
});
