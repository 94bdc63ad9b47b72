/**
 * A namespace of layout 3 is refused by everything but a copy, which carries all of it over. The fixture is one as the last
 * version of that layout left it: keys of a namespace, each as `DUMP` gives it, in base64.
 */
import { readFileSync } from 'node:fs';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, expect, inject, it } from 'vitest';
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

beforeAll(async () => {
  for (const [name, text] of Object.entries(dumped)) {
    await client.restore(`${prefix}:${name}`, 0, Buffer.from(text, 'base64'));
  }
  const clock = new HandClock();
  clock.move(NOW - clock.now());
  const store = await storeOf({ client, prefix, clock: () => clock.now() }, clock);
  copied = backendOver(clock, store).backend;
});

afterAll(async () => {
  await client.unlink(...Object.keys(dumped).map((name) => `${prefix}:${name}`));
  client.disconnect();
});

it('is refused, with what carries it over', async () => {
  const backend = redis(client, { prefix });
  await expect(
    backend.open({ retention: { finishedMs: 1, failedMs: 1, canceledMs: 1 } }),
  ).rejects.toThrow('layout 3 of an older version, this process knows 4: fairloom copy carries');
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
