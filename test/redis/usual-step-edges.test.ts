/** What a usual step meets seldom, and how the keys that it changes are kept. */
import { describe, expect, inject, it } from 'vitest';
import { memory } from '../../src/index.ts';
import { adminOf, freshPrefix, kitOn } from './faults/kit.ts';

async function setUp() {
  const prefix = freshPrefix();
  const kit = await kitOn(inject('redisUrl'), prefix);
  return {
    kit,
    /** Another process: it does not know what the latest step of the worker was. */
    other: () => kitOn(inject('redisUrl'), prefix),
    raw: adminOf(),
    key: (name: string): string => `${prefix}:${name}`,
  };
}

describe('a step that begins as a usual one', () => {
  it('settles for a worker with lists, also without a lease', async () => {
    const { kit, other } = await setUp();
    await kit.worker('w', { assignedUsers: ['ann'] });
    await kit.add({ user: 'ann' });
    const leased = await kit.leaseOne();
    const answer = await (await other()).finish(leased);
    expect(answer).toMatchObject({ kind: 'ok', state: 'finished' });
  });

  it('deals out turns where users of two families tie', async () => {
    const { kit, other, raw, key } = await setUp();
    await kit.worker('w');
    await kit.backend.users.set('bob', { maxRunning: 9 }, { queue: 'default' });
    const ids = ['t0', 't1', 't2', 't3'];
    await kit.send(...ids.map((id, at) => ({ id, user: at % 2 === 0 ? 'bob' : 'ann' })));
    const [, tag] = await raw.zrange(key('ready:pw100'), 0, '-1', 'WITHSCORES');
    await raw.zadd(key('ready:ow100'), tag ?? '', 'bob');
    const users = (await (await other()).lease(4)).map(({ user }) => user);
    expect(users.slice(0, 2)).toEqual(['ann', 'bob']);
    expect(users.toSorted()).toEqual(['ann', 'ann', 'bob', 'bob']);
  });

  // F69
  it('serves a worker beside tasks that it does not know, while others wait', async () => {
    const { kit } = await setUp();
    await kit.worker('w');
    await kit.add({ name: 'strange' });
    expect(await kit.leaseReply({ limit: 5 })).toMatchObject({ leases: [] });
    // Two wait: one is woken for what comes, and one is still there when it is leased.
    for (const worker of ['idle', 'idler']) {
      await kit.worker(worker, { names: ['other'] });
      const waits = await kit.leaseReply({ worker, limit: 1, wait: true });
      expect(waits.waitMs).toBeGreaterThan(0);
    }
    const id = await kit.add();
    const queues = [{ queue: 'default', weight: 1, pass: 0 }];
    const request = { requestId: 'r', worker: 'w', limit: 5, leaseMs: 1_000, queues, wait: false };
    const reply = await kit.backend.tasks.lease(request);
    expect(reply.leases.map((lease) => lease.id)).toEqual([id]);
  });

  it('hands on the alarm when it goes on with all that is known', async () => {
    const { kit, other, raw, key } = await setUp();
    // Of two that wait since the same millisecond the first by name has waited longest.
    // Who begins last, and who stands in line first, holds the alarm.
    for (const worker of ['x', 'w']) await kit.worker(worker);
    for (const worker of ['w', 'x']) await kit.leaseReply({ worker, wait: true });
    await kit.backend.users.set('bob', { maxRunning: 9 }, { queue: 'default' });
    await kit.add({ user: 'ann', delayMs: 60_000 });
    await kit.add({ user: 'bob' });
    // The worker that waits longest is woken for the task, and has held the alarm.
    expect(await raw.llen(key('wake:w'))).toBeGreaterThan(0);
    const woken = await raw.llen(key('wake:x'));
    expect((await (await other()).leaseOne({ requestId: 'new' })).user).toBe('bob');
    expect(await raw.llen(key('wake:x'))).toBe(woken + 1);
  });
});

describe('turns that are dealt out many at once', () => {
  it.each([1, 7, 40, 200])('are those of the other backend, %i at a time', async (limit) => {
    const { kit } = await setUp();
    const other = memory();
    const users = Array.from({ length: 150 }, (_, at) => `user${at}`);
    const weights: Readonly<Record<number, number>> = { 0: 300, 1: 35 };
    const tasks = users.flatMap((user, at) =>
      Array.from({ length: 1 + (at % 4) }, () => kit.task({ user })),
    );
    const order: string[][] = [];
    for (const backend of [kit.backend, other]) {
      const spec = { id: 'w', queues: ['default'], names: tasks.map(({ name }) => name) };
      await backend.workers.register({
        ...spec,
        names: [...new Set(spec.names)],
        concurrency: 9,
        host: 'h',
      });
      for (const [at, user] of users.entries()) {
        const weight = weights[at % 3];
        if (weight !== undefined) await backend.users.set(user, { weight }, {});
      }
      await backend.tasks.enqueue(tasks, { atomic: false });
      const served: string[] = [];
      for (let call = 0; served.length < tasks.length; call++) {
        const requestId = `request${String(call).padStart(6, '0')}`;
        const queues = [{ queue: 'default', weight: 1, pass: 0 }];
        const request = { requestId, worker: 'w', limit, leaseMs: 60_000, queues, wait: false };
        const { leases } = await backend.tasks.lease(request);
        if (leases.length === 0) break;
        served.push(...leases.map(({ id }) => id));
      }
      order.push(served);
    }
    await other.close();
    expect(order[0]?.length).toBe(tasks.length);
    expect(order[0]).toEqual(order[1]);
  });

  it('count a user once that has more to come', async () => {
    const { kit, raw, key } = await setUp();
    await kit.add({ user: 'ann' });
    await kit.add({ user: 'ann' });
    expect(await raw.zcard(key('ready:pw100'))).toBe(1);
    expect((await kit.backend.inspect.reconcile({ repair: false })).drift).toEqual([]);
  });
});

describe('what every turn changes', () => {
  it('is no listpack: leases, and the ready users of a class from 21 on', async () => {
    const { kit, raw, key } = await setUp();
    await kit.worker('w');
    await kit.send(...Array.from({ length: 20 }, (_, at) => ({ id: `t${at}`, user: `u${at}` })));
    expect(await raw.object('ENCODING', key('ready:pw100'))).not.toBe('skiplist');
    await kit.add({ id: 't20', user: 'u20' });
    expect(await raw.object('ENCODING', key('ready:pw100'))).toBe('skiplist');
    expect(await kit.leaseIds(1)).toEqual(['t0']);
    expect(await raw.object('ENCODING', key('hot:w'))).toBe('hashtable');
    // There is none behind all of them.
    expect((await kit.leaseIds(50)).length).toBe(20);
    expect(await kit.leaseIds(1)).toEqual([]);
    expect(await raw.exists(key('ready:pw100'))).toBe(0);
  });
});
