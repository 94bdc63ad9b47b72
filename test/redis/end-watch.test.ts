/** What waiting for an end costs, and what it leaves behind. */

import { Redis } from 'ioredis';
import { expect, inject, it, vi } from 'vitest';
import { offsetsOf, PACKED } from '../../src/backends/redis/layout/packed.ts';
import { redis } from '../../src/backends/redis/redis-backend.ts';
import { REFUSING_EDGES } from '../../src/conformance/kit.ts';
import { LIMITS } from '../../src/domain/limits.ts';
import { Fairloom, task } from '../../src/index.ts';
import { silentLogger } from '../../src/logging/logger.ts';
import { isScript } from '../support/redis/scripts.ts';
import { adminOf, atEnd, freshPrefix, kitOn, teach } from './faults/kit.ts';

/** Where the clock has their number. */
const EARS_AT = (offsetsOf(PACKED.clock)['ears'] ?? Number.NaN) - 1;

async function setUp() {
  const prefix = freshPrefix();
  const kit = await kitOn(inject('redisUrl'), prefix);
  const raw = adminOf();
  return {
    kit,
    prefix,
    ears: () => raw.hgetall(`${prefix}:ears`),
    /** How many of them the clock counts. */
    counted: async () => (await raw.hgetBuffer(`${prefix}:clock`, 's'))?.readUInt32LE(EARS_AT),
  };
}

/** Calls of scripts that go through a client. */
async function counted(prefix: string) {
  await teach();
  const client = new Redis(inject('redisUrl'));
  const calls = vi.spyOn(client, 'call');
  const backend = redis(client, { prefix });
  atEnd(async () => {
    await backend.close();
    client.disconnect();
  });
  const scripts = (): number => calls.mock.calls.filter(([name]) => isScript(name)).length;
  return { backend, scripts };
}

it('an awaited task takes four scripts: enqueue, watch, lease, settle', async () => {
  const { backend, scripts } = await counted(freshPrefix());
  const double = task('double', async (input: number) => 2 * input);
  const loom = new Fairloom({ backend, tasks: [double], log: silentLogger });
  const worker = loom.worker({ scheduler: false });
  const run = async (): Promise<void> => {
    expect(await (await loom.enqueue(double, 21)).result()).toBe(42);
  };
  await worker.start();
  await run();
  await worker.whenIdle();
  const before = scripts();
  await run();
  await worker.whenIdle();
  // The last one settles, and leases nothing.
  expect(scripts() - before).toBeLessThanOrEqual(4);
  await loom.close();
});

it('what has ended is told by the call that asks, many at once by one script', async () => {
  const prefix = freshPrefix();
  const { kit } = { kit: await kitOn(inject('redisUrl'), prefix) };
  const ids: string[] = [];
  for (let at = 0; at < 20; at++) ids.push(await kit.add());
  await kit.worker('w');
  await kit.settleAll(await kit.lease(20, { worker: 'w' }), { type: 'finish', result: '7' });
  const { backend, scripts } = await counted(prefix);
  const { signal } = new AbortController();
  await backend.inspect.waitForEnd(ids[0] ?? '', 1_000, signal);
  const before = scripts();
  const waits = [...ids, ...ids].map((id) => backend.inspect.waitForEnd(id, 1_000, signal));
  for (const ended of await Promise.all(waits)) {
    expect(ended).toEqual({ state: 'finished', result: '7' });
  }
  expect(scripts() - before).toBe(1);
});

it('a channel that was told is forgotten, and a plain step tells', async () => {
  const { kit, ears, prefix, counted: count } = await setUp();
  await kit.worker('w');
  const [usual, odd] = [await kit.add(), await kit.add()];
  const { signal } = new AbortController();
  const waits = [usual, odd].map((id) => kit.backend.inspect.waitForEnd(id, 60_000, signal));
  await expect.poll(async () => Object.keys(await ears()).length).toBe(2);
  const { backend, scripts } = await counted(prefix);
  // Two processes, one ear.
  waits.push(backend.inspect.waitForEnd(usual, 60_000, signal));
  await expect.poll(async () => (await ears())[usual]?.split(' ').length).toBe(3);
  expect(await count()).toBe(2);
  const [first, second] = await kit.lease(2, { worker: 'w' });
  if (first === undefined || second === undefined) throw new Error('nothing leased');
  const before = scripts();
  await backend.tasks.settle({
    worker: 'w',
    settlements: [{ ...first, decision: { type: 'finish', result: '1' } }],
    lease: {
      ...{ worker: 'w', requestId: 'request-next', limit: 1, leaseMs: 60_000, wait: false },
      queues: [{ queue: 'default', weight: 1, pass: 0 }],
    },
  });
  expect(scripts() - before).toBe(1);
  expect(await waits[0]).toEqual({ state: 'finished', result: '1' });
  expect(await waits[2]).toEqual({ state: 'finished', result: '1' });
  expect(Object.keys(await ears())).toEqual([odd]);
  expect(await count()).toBe(1);
  await kit.fail(second);
  expect(await waits[1]).toMatchObject({ state: 'failed' });
  expect(await ears()).toEqual({});
  expect(await count()).toBe(0);
});

it('dependents go on though a client listens to the ends of some of those that finish at once', async () => {
  const { kit, ears } = await setUp();
  await kit.worker('w');
  const edges = { ...REFUSING_EDGES, allowCrossUser: true };
  const upstreams = await kit.addMany(5);
  const dependents: string[] = [];
  for (const id of upstreams) {
    dependents.push(await kit.add({ user: 'bob', dependsOn: [id], edges }));
  }
  const leases = await kit.lease(5, { worker: 'w' });
  const { signal } = new AbortController();
  const listened = [0, 2, 3].map((at) => upstreams[at] ?? '');
  const ends = listened.map((id) => kit.backend.inspect.waitForEnd(id, 60_000, signal));
  const heard = async (): Promise<number> =>
    Object.values(await ears()).filter((ear) => ear.includes(' ')).length;
  await expect.poll(heard).toBe(listened.length);
  await kit.settleAll(leases, { type: 'finish', result: '1' });
  for (const ended of ends) expect(await ended).toMatchObject({ state: 'finished' });
  await kit.rest();
  expect(await kit.leaseIds(5)).toEqual(dependents);
});

it('a long result does not travel with the notice, and is fetched', async () => {
  const { kit, ears, prefix } = await setUp();
  const heard: string[] = [];
  const listener = adminOf();
  listener.on('message', (_channel, message) => heard.push(message));
  for (const [length, travels] of [
    [LIMITS.noticeBytes - 2, true],
    [LIMITS.noticeBytes - 1, false],
  ] as const) {
    const id = await kit.add();
    const ended = kit.backend.inspect.waitForEnd(id, 60_000, new AbortController().signal);
    await expect.poll(async () => Object.keys(await ears())).toEqual([id]);
    const channel = (await ears())[id]?.trim() ?? '';
    expect(channel.startsWith(`${prefix}:notices:`)).toBe(true);
    await listener.subscribe(channel);
    const result = JSON.stringify('x'.repeat(length));
    await kit.runToEnd(id, result);
    expect(await ended).toEqual(travels ? { state: 'finished', result } : undefined);
    await expect.poll(() => heard.length).toBeGreaterThan(0);
    expect(heard.splice(0).join()).toBe(travels ? `${id}\x005\0\0\0${result}` : id);
  }
});
