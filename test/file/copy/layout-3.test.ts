/**
 * A namespace of layout 3 is refused by everything but a copy, which carries all of it over. The fixture is one as the last
 * version of that layout left it: keys of a namespace, each as `DUMP` gives it, in base64.
 */
import { readFileSync } from 'node:fs';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import { packedBytes } from '../../../src/backends/copy/packed-bytes.ts';
import type { Store } from '../../../src/backends/memory/store/store.ts';
import { redis } from '../../../src/backends/redis/redis-backend.ts';
import type { Backend } from '../../../src/domain/port/backend.ts';
import { backendOver, storeOf } from '../../support/copies.ts';
import { HandClock } from '../../support/hand-clock.ts';

const NOW = Date.UTC(2026, 0, 5, 12);
const prefix = `layout-3-${process.pid}`;
const dumped: Readonly<Record<string, string>> = JSON.parse(
  readFileSync(new URL('../../fixtures/layout-3.json', import.meta.url), 'utf8'),
);
const client = new Redis(inject('redisPlace'));
let copied: Backend;
let store: Store;

beforeAll(async () => {
  for (const [name, text] of Object.entries(dumped)) {
    await client.restore(`${prefix}:${name}`, 0, Buffer.from(text, 'base64'));
  }
  // One that had tasks of several levels has a record.
  await client.rename(`${prefix}:ready:pw3`, `${prefix}:ready:ow3`);
  const u = packedBytes('user', RECORD);
  await client.hset(`${prefix}:user:bob`, { u, v: tagsOfLevels() });
  const clock = new HandClock();
  clock.move(NOW - clock.now());
  store = await storeOf({ client, prefix, clock: () => clock.now() }, clock);
  copied = backendOver(clock, store).backend;
});

/** Of a user that is ready, and has one task. */
const RECORD = {
  ...{ tag: 0, epoch: 0, flags: 1, weight: 3, headroom: 1, live: 1, running: 0, arrival: 0 },
  ...{ level1: 0, level2: 0, level3: 1, level4: 0, level5: 0, level6: 0 },
};

/** Virtual time 1.25, two critical turns in a row; level 3 has its next turn an eighth before it would if it began now. */
function tagsOfLevels(): Buffer {
  const bytes = Buffer.alloc(12 + 17);
  bytes.writeDoubleLE(1.25, 0);
  bytes.writeUInt32LE(2, 8);
  bytes.writeUInt8(3, 12);
  bytes.writeDoubleLE(1, 13);
  bytes.writeDoubleLE(1.375, 21);
  return bytes;
}

afterAll(async () => {
  const names = [...Object.keys(dumped), 'ready:ow3'];
  await client.unlink(...names.map((name) => `${prefix}:${name}`));
  client.disconnect();
});

it('is refused, with what carries it over', async () => {
  const backend = redis(client, { prefix });
  await expect(
    backend.open({ retention: { finishedMs: 1, failedMs: 1, canceledMs: 1 } }),
  ).rejects.toThrow('layout 3 of an older version, this process knows 4: fairloom copy converts');
  await backend.close();
});

it('is copied with its tasks, their ends and their places', async () => {
  const states = { a: 'finished', b: 'queued', c: 'failed', d: 'queued', e: 'queued' };
  const all = { ...states, later: 'scheduled', reads: 'deferred' };
  const found = await copied.inspect.get(Object.keys(all));
  expect(Object.fromEntries(found.map((one) => [one?.id, one?.state]))).toEqual(all);
  expect(found[0]).toMatchObject({ result: '"done"' });
});

it('is copied with counts, turns and settings of its queues', async () => {
  expect(await copied.inspect.stats()).toMatchObject({
    counts: { queued: 3, started: 0, finished: 1, failed: 1, scheduled: 1, deferred: 1 },
    totals: { enqueued: 7, finished: 1, failed: 1, deadLetters: 1 },
  });
  const queues = await copied.queues.list();
  expect(queues.find(({ queue }) => queue === 'slow')?.settings).toMatchObject({ maxRunning: 2 });
  const bob = await copied.users.get('bob', 'default');
  expect(bob?.settings).toMatchObject({ weight: 3 });
});

it('is copied with how long the levels of a user have waited', () => {
  const shares = store.queues.get('default')?.users.get('bob')?.shares;
  expect(shares).toEqual({ criticalRun: 2, waited: [0, 0, 0.125, 0, 0] });
});
