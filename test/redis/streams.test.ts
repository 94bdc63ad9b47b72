/** What only the Redis backend owes its streams: notices, outages, damage, and keys that go. */
import { Redis } from 'ioredis';
import { expect, inject, it, vi } from 'vitest';
import { redis } from '../../src/backends/redis/redis-backend.ts';
import { Writer } from '../../src/conformance/runs/stream-kit.ts';
import { LIMITS } from '../../src/domain/limits.ts';
import type { Leased } from '../../src/domain/port/backend.ts';
import { Fairloom, task } from '../../src/index.ts';
import { silentLogger } from '../../src/logging/logger.ts';
import { gate } from '../support/gate.ts';
import { readAll, readNow } from '../support/streams.ts';
import {
  adminOf,
  atEnd,
  freshPrefix,
  kitOn,
  manualKitOn,
  ownServer,
  proxyTo,
  RETENTION,
  teach,
} from './faults/kit.ts';

const SPEAK = task('speak', async (count: number, ctx) => {
  for (let n = 0; n < count; n++) await ctx.stream('tokens').write(n);
});

function loomOn(url: string, prefix: string, tasks = [SPEAK]): Fairloom {
  const loom = new Fairloom({ backend: redis(url, { prefix }), tasks, log: silentLogger });
  atEnd(() => loom.close({ timeout: 0 }));
  return loom;
}

/** As `readNow` shows the numbers from 0 on. */
function counted(count: number): readonly string[] {
  return Array.from({ length: count }, (_, n) => `${n} ${n}`);
}

it('a reader listens to its stream, also after its connection broke, and not once it has left', async () => {
  const prefix = freshPrefix();
  const raw = adminOf();
  const writer = new Writer(await kitOn(inject('redisUrl'), prefix), await leased(prefix));
  const backend = redis(inject('redisUrl'), { prefix });
  atEnd(() => backend.close());
  const channels = async (): Promise<unknown> => raw.pubsub('CHANNELS', `${prefix}:stream*`);
  const [leave, place] = [new AbortController(), { id: 'task', name: 'tokens' }];
  const wait = (from: number): Promise<void> =>
    backend.streams.waitForChunks({ ...place, from }, 60_000, leave.signal);
  const first = wait(0);
  await expect.poll(channels).toHaveLength(1);
  await writer.write('1');
  await first;
  const second = wait(1);
  await raw.call('CLIENT', ['KILL', 'TYPE', 'pubsub']);
  // It is told to look for itself, and listens anew.
  await second;
  const third = wait(1);
  await expect.poll(channels).toHaveLength(1);
  await writer.write('2');
  await third;
  const last = wait(2);
  leave.abort();
  await last;
  await expect.poll(channels).toEqual([]);
});

it('readers that cannot listen look by themselves', async () => {
  const prefix = freshPrefix();
  const proxy = await proxyTo();
  const writer = new Writer(await kitOn(inject('redisUrl'), prefix), await leased(prefix));
  proxy.setRule(([command = '']) =>
    command.toLowerCase() === 'subscribe'
      ? { type: 'answer', reply: '-NOPERM no channels\r\n' }
      : undefined,
  );
  const loom = loomOn(proxy.url, prefix);
  const reader = loom.streams.read('task', 'tokens');
  const next = reader.next();
  await writer.write('"a"');
  expect((await next).value).toMatchObject({ value: 'a' });
  await reader.return();
});

it('connections that break all the time double and lose nothing', async () => {
  const prefix = freshPrefix();
  const proxy = await proxyTo();
  const loom = loomOn(proxy.url, prefix);
  let appends = 0;
  proxy.setRule((command) => {
    if (!command.includes('tokens')) return undefined;
    appends++;
    if (appends % 5 === 2) return { type: 'lose-reply', cut: true };
    return appends % 5 === 4 ? { type: 'lose-request', cut: true } : undefined;
  });
  await loom.worker().start();
  const { id } = await loom.enqueue(SPEAK, 20);
  const other = loomOn(inject('redisUrl'), prefix, []);
  expect(await readAll(other, id)).toEqual(counted(20));
  expect(appends).toBeGreaterThan(25);
});

it('a server that is restarted has them, once each', async () => {
  const prefix = freshPrefix();
  const server = await ownServer({ args: ['--appendonly', 'yes', '--appendfsync', 'always'] });
  const [half, goOn] = [gate(), gate()];
  const halves = task('speak', async (count: number, ctx) => {
    for (let n = 0; n < count; n++) {
      if (n === count / 2) {
        half.open();
        await goOn.passed;
      }
      await ctx.stream('tokens').write(n);
    }
  });
  const loom = loomOn(server.url, prefix, [halves]);
  await loom.worker().start();
  const { id } = await loom.enqueue(halves, 10);
  await half.passed;
  await server.kill();
  goOn.open();
  await server.restart();
  await expect.poll(() => readNow(loom, id).catch(() => [])).toHaveLength(10);
  expect(await readNow(loom, id)).toEqual(counted(10));
});

it('a chunk takes one call, and so do all of one turn', async () => {
  await teach();
  const client = new Redis(inject('redisUrl'));
  const calls = vi.spyOn(client, 'call');
  const backend = redis(client, { prefix: freshPrefix() });
  const appends: number[] = [];
  const count = (): number =>
    calls.mock.calls.filter(([, args]) => Array.isArray(args) && args.includes('tokens')).length;
  const speak = task('speak', async (_: undefined, ctx) => {
    const tokens = ctx.stream('tokens');
    await tokens.write('first');
    let before = count();
    await tokens.write('alone');
    appends.push(count() - before);
    before = count();
    await Promise.all(Array.from({ length: 300 }, (_one, n) => tokens.write(n)));
    appends.push(count() - before);
  });
  const loom = new Fairloom({ backend, tasks: [speak], log: silentLogger });
  atEnd(async () => {
    await loom.close({ timeout: 0 });
    client.disconnect();
  });
  await loom.worker().start();
  await (await loom.enqueue(speak)).result();
  expect(appends).toEqual([1, 1]);
});

it('leave no key behind', async () => {
  const prefix = freshPrefix();
  const kit = await manualKitOn(inject('redisUrl'), { ...RETENTION, finishedMs: 0 }, prefix);
  for (const id of ['removed', 'retained']) {
    await kit.add({ id });
    const lease = await kit.leaseOne();
    for (const name of ['a', 'b']) {
      await new Writer(kit, lease, { name }).write('1');
      await new Writer(kit, lease, { name, node: 'n' }).close('2');
    }
    await kit.finish(lease);
  }
  const raw = adminOf();
  expect(await raw.keys(`${prefix}:stream*`)).toHaveLength(6);
  await kit.shift(LIMITS.resendMs + 1);
  await kit.backend.tasks.remove('removed');
  await kit.rest();
  expect(await kit.states(['removed', 'retained'])).toEqual(['missing', 'missing']);
  expect(await raw.keys(`${prefix}:stream*`)).toEqual([]);
});

it('what is known of a stream is told anew from what it holds', async () => {
  const prefix = freshPrefix();
  const kit = await kitOn(inject('redisUrl'), prefix);
  atEnd(() => kit.close());
  const writer = new Writer(kit, await leased(prefix));
  await writer.write('1', '2');
  const raw = adminOf();
  const [facts] = await kit.backend.streams.list('task');
  for (const damage of ['lost', 'unreadable']) {
    if (damage === 'lost') await raw.hdel(`${prefix}:streams:task`, 's:tokens');
    else await raw.hset(`${prefix}:streams:task`, 's:tokens', 'x 1');
    expect(await writer.write()).toBe('ok');
    expect(await kit.backend.streams.list('task')).toEqual([facts]);
  }
  expect(await raw.hget(`${prefix}:streams:task`, 'n')).toBe('1');
  await writer.write('3');
  expect(await kit.backend.streams.list('task')).toMatchObject([{ first: 0, next: 3 }]);
});

it('a repair takes those of tasks that are not stored', async () => {
  const prefix = freshPrefix();
  const kit = await kitOn(inject('redisUrl'), prefix);
  atEnd(() => kit.close());
  const lease = await leased(prefix);
  for (const name of ['a', 'b']) await new Writer(kit, lease, { name }).write('1');
  const raw = adminOf();
  const keys = (): Promise<string[]> => raw.keys(`${prefix}:stream*`);
  const drift = async (repair: boolean): Promise<readonly string[]> =>
    (await kit.backend.inspect.reconcile({ repair })).drift.filter((line) => /^stream/.test(line));
  expect(await drift(true)).toEqual([]);
  expect(await keys()).toHaveLength(3);
  await raw.hdel(`${prefix}:tasks`, 'task');
  expect(await drift(false)).toHaveLength(3);
  expect(await keys()).toHaveLength(3);
  await drift(true);
  expect(await keys()).toEqual([]);
});

it('an entry that another program wrote is reported as damage', async () => {
  const prefix = freshPrefix();
  const loom = loomOn(inject('redisUrl'), prefix);
  await loom.worker().start();
  const handle = await loom.enqueue(SPEAK, 1);
  await handle.result();
  const key = `${prefix}:stream:${Buffer.byteLength(handle.id)}:${handle.id}tokens`;
  const raw = adminOf();
  const problem = (): Promise<unknown> => readNow(loom, handle.id).catch((error: unknown) => error);
  await raw.xadd(key, '9-0', 'h', 'chunks 8 1 ', 't', '1:1');
  expect(await problem()).toMatchObject({ code: 'CORRUPT_RECORD' });
  await raw.xadd(key, '10-0', 'other', 'x');
  expect(await problem()).toMatchObject({ code: 'CORRUPT_RECORD' });
});

/** A task that is leased to `w`. */
async function leased(prefix: string): Promise<Leased> {
  const kit = await kitOn(inject('redisUrl'), prefix);
  atEnd(() => kit.close());
  await kit.add({ id: 'task' });
  return kit.leaseOne();
}
