/** What one script does and carries at most, and what becomes of the rest. */
import { describe, expect, inject, it } from 'vitest';
import { LIMITS } from '../../src/index.ts';
import { type RedisClient, redis } from '../../src/redis.ts';
import { adminOf, freshPrefix, kitOn, ownServer } from './faults/kit.ts';

const MIB = JSON.stringify('x'.repeat(1_048_574));

async function setUp(url = inject('redisUrl')) {
  const prefix = freshPrefix();
  const kit = await kitOn(url, prefix);
  await kit.worker('w');
  return { kit, prefix, raw: adminOf(url), key: (name: string): string => `${prefix}:${name}` };
}

/** A client that is cut off when a script has said that there is more to do. */
function dyingClient(): RedisClient {
  const client = adminOf();
  const call = client.call.bind(client) as (command: string, args: unknown[]) => Promise<unknown>;
  let isDead = false;
  const dying = async (command: string, args: unknown[]): Promise<unknown> => {
    if (isDead) throw new Error('cut off');
    const reply = await call(command, args);
    isDead = Array.isArray(reply) && reply[0] === 'more';
    return reply;
  };
  return Object.assign(client, { call: dying }) as unknown as RedisClient;
}

describe('the budget of a script', () => {
  it.each(['plain', 'limited'])(
    // F68
    'a lease carries one long payload of %s users, and says more',
    async (kind) => {
      const { kit } = await setUp();
      if (kind === 'limited') await kit.setUser('ann', { maxRunning: 9 });
      const ids = await kit.addMany(3, { payload: MIB });
      const leased: string[] = [];
      for (let call = 0; call < 3; call++) {
        const { leases, more } = await kit.leaseReply({ limit: 10 });
        expect(leases).toHaveLength(1);
        expect(more).toBe(call < 2);
        leased.push(...leases.map(({ id }) => id));
      }
      expect(leased).toEqual(ids);
    },
  );

  it('a lease that passes the tags of thousands of users reads them in few commands, and says more', async () => {
    // A monitor that is closed while others' commands come in breaks: it has a server of its own.
    const { kit, raw, key } = await setUp((await ownServer()).url);
    const users = 5_000;
    for (let at = 0; at < users; at += 100) {
      const some = Array.from({ length: 100 }, (_, nth) => kit.task({ user: `user${at + nth}` }));
      await kit.backend.tasks.enqueue(some, { atomic: false });
    }
    await kit.addMany(200, { user: 'many' });
    let [reads, most, isOver] = [0, 0, false];
    const monitor = await raw.monitor();
    monitor.on('monitor', (_, [command = '', name]: string[]) => {
      if (name === key('over')) isOver = true;
      if (/^hset$/i.test(command) && name === key('clock')) reads = 0;
      if (/^z(range|count)/i.test(command) && name === key('kept-tags')) reads++;
      most = Math.max(most, reads);
    });
    let short = 0;
    const { leaseBatch } = LIMITS;
    for (let left = users + 200; left > 0; ) {
      const { leases, more } = await kit.leaseReply({ limit: leaseBatch });
      left -= leases.length;
      if (leases.length < leaseBatch && left > 0) {
        expect(more).toBe(true);
        short++;
      }
    }
    await raw.exists(key('over'));
    await expect.poll(() => isOver).toBe(true);
    monitor.disconnect();
    expect(short).toBeGreaterThan(0);
    expect(most).toBeGreaterThan(2);
    expect(most).toBeLessThan(20);
  });

  // F68
  it('long results stand apart, and go with their tasks', async () => {
    const { kit, raw, key } = await setUp();
    const [long, short] = await kit.addMany(2);
    for (const leased of await kit.lease(2)) {
      await kit.settle(leased, { type: 'finish', result: leased.id === long ? MIB : '"s"' });
    }
    expect(await raw.hkeys(key('results'))).toEqual([long]);
    expect(await raw.hstrlen(key('ends'), long ?? '')).toBeLessThan(200);
    const [whole, other] = await kit.backend.inspect.status([long ?? '', short ?? '']);
    expect(whole?.result === MIB).toBe(true);
    expect(other?.result).toBe('"s"');
    // A reader writes the end anew.
    await kit.add({ dependsOn: [long ?? ''] });
    const after = await kit.leaseOne();
    expect(after.upstreams[0]).toMatchObject({ id: long, state: 'finished', cut: true });
    expect((await kit.record(long ?? ''))?.result === MIB).toBe(true);
    await kit.finish(after);
    while ((await kit.backend.tasks.tick()).more);
    expect(await kit.backend.tasks.remove(long ?? '')).toEqual({ kind: 'ok' });
    expect(await raw.exists(key('results'))).toBe(0);
  });

  // F68
  it('queues hear of new settings by ticks, when who set them has died', async () => {
    const { kit, raw, key, prefix } = await setUp();
    const queues = Array.from({ length: 3 * LIMITS.refreshStep }, (_, at) => `q${at}`);
    for (const queue of queues) await kit.add({ queue });
    const dying = redis(dyingClient(), { prefix });
    await expect(dying.users.set('ann', { maxRunning: 1 }, {})).rejects.toThrow('unavailable');
    await dying.close();
    expect(await raw.hkeys(key('refreshing'))).toEqual(['@ann']);
    for (let ticks = 0; ticks < 20 && (await kit.backend.tasks.tick()).more; ticks++);
    expect(await raw.exists(key('refreshing'))).toBe(0);
    const known = await Promise.all(
      queues.map((queue) => raw.exists(key(`queue:${queue}:user:ann`))),
    );
    expect(known.every((count) => count === 1)).toBe(true);
    expect((await kit.backend.inspect.reconcile({ repair: false })).drift).toEqual([]);
  });

  // F68
  it('a tick tells when the first of many rates opens', async () => {
    const { kit } = await setUp();
    const rate = { limit: 1, perMs: 60_000, burst: 1 };
    for (let at = 0; at < 60; at++) {
      const queue = `r${at}`;
      await kit.setQueue({ rate: { ...rate, perMs: 60_000 + at } }, queue);
      await kit.addMany(at === 55 ? 2 : 1, { queue });
      await kit.leaseOne({ queues: [{ queue, weight: 1, pass: 0 }], leaseMs: 86_400_000 });
    }
    const { nextDueAt = 0, now } = await kit.backend.tasks.tick();
    expect(nextDueAt).toBeGreaterThan(now);
    expect(nextDueAt - now).toBeLessThanOrEqual(60_055);
    await kit.setQueue({ rate: null }, 'r55');
    expect((await kit.leaseIds(1, { queues: [{ queue: 'r55', weight: 1, pass: 0 }] })).length).toBe(
      1,
    );
  });
});
