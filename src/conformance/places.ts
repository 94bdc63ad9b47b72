import { compareUtf8 } from '../base/utf8-order.ts';
import type { UserInfo } from '../domain/port/backend.ts';
import type { Cases } from './cases.ts';
import type { Kit } from './kit.ts';

/** With so many users more queues than one script looks at. */
const MANY = 200;

/** Users of whom nothing is known. */
const NONE = Array.from({ length: 150 }, (_, i) => `none-${i}`);

/** Queues of another user, each with a task. */
async function manyQueues(kit: Kit): Promise<void> {
  const queues = Array.from({ length: MANY }, (_, i) => ({ user: 'zoe', queue: `zoe-${i}` }));
  await kit.send(...queues);
}

/** What the listing of each queue tells of some users. */
async function listedOf(kit: Kit, users: readonly string[]): Promise<readonly UserInfo[]> {
  const queues = (await kit.backend.queues.list()).map(({ queue }) => queue).sort(compareUtf8);
  const found: UserInfo[] = [];
  for (const queue of queues.filter((one) => !one.startsWith('zoe-'))) {
    const { items } = await kit.backend.users.list(queue, { limit: 100 }, { configured: false });
    found.push(...items.filter(({ user }) => users.includes(user)));
  }
  return found;
}

/** In which queues a user has something, however many queues others have. */
export const places: Cases = {
  // F109
  'finds users in every queue that knows them': async (kit, expect) => {
    await manyQueues(kit);
    // Settings for all queues are not something in a queue.
    await kit.setUser('ann', { weight: 300 });
    await kit.setUser('cat', { weight: 300 });
    await kit.setUser('bob', { weight: 200 }, 'set');
    await kit.add({ user: 'ann', queue: 'waits' });
    await kit.add({ user: 'bob', queue: 'waits' });
    await kit.add({ user: 'ann', queue: 'later', delayMs: 60_000 });
    for (const user of ['ann', 'bob']) await kit.add({ user, queue: 'runs' });
    await kit.lease(2, { queues: [{ queue: 'runs', weight: 1, pass: 0 }] });
    const found = await kit.backend.users.everywhere(['bob', ...NONE, 'ann', 'cat']);
    expect(found.map(({ queue, user }) => `${queue} ${user}`)).toEqual([
      'later ann',
      'runs ann',
      'runs bob',
      'set bob',
      'waits ann',
      'waits bob',
    ]);
    expect(found).toEqual(await listedOf(kit, ['ann', 'bob', 'cat']));
    expect(found[1]).toMatchObject({ running: 1, queued: 0, settings: { weight: 300 } });
    expect(await kit.backend.users.everywhere(['cat'])).toEqual([]);
    expect(await kit.backend.users.everywhere([])).toEqual([]);
    const zoe = await kit.backend.users.everywhere(['zoe']);
    expect(new Set(zoe.map(({ queue }) => queue)).size).toBe(MANY);
    expect(zoe).toHaveLength(MANY);
  },

  // F109
  'lists the lines of a user page by page, also when it leaves a queue meanwhile': async (
    kit,
    expect,
  ) => {
    const ids: string[] = [];
    for (const queue of ['a', 'b', 'c']) {
      await kit.add({ user: 'zoe', queue: `between-${queue}` });
      ids.push(await kit.add({ user: 'ann', queue }));
    }
    const pageOf = (cursor?: string) =>
      kit.backend.inspect.list(
        { state: 'queued', user: 'ann' },
        cursor === undefined ? { limit: 1 } : { limit: 1, cursor },
      );
    const first = await pageOf();
    expect(first.items.map(({ id }) => id)).toEqual([ids[0]]);
    expect(await kit.cancel(ids[0] ?? '')).toMatchObject({ kind: 'canceled' });
    const second = await pageOf(first.cursor);
    expect(second.items.map(({ id }) => id)).toEqual([ids[1]]);
    const third = await pageOf(second.cursor);
    expect(third.items.map(({ id }) => id)).toEqual([ids[2]]);
  },
};
