/** What a copy refuses, what it leaves behind when it breaks off, and that it touches nothing else. */
import { randomBytes } from 'node:crypto';
import { ask, encrypted, signal, task, waitFor } from 'fairloom';
import { Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, describe, expect, inject, it } from 'vitest';
import { type RedisPlace, storeToRedis } from '../../../src/backends/copy/copy.ts';
import type { Store } from '../../../src/backends/memory/store/store.ts';
import { redisForTests } from '../../../src/backends/redis/manual-time.ts';
import { Fairloom } from '../../../src/client/client.ts';
import type { Core } from '../../../src/core/core.ts';
import { SeriesRow } from '../../../src/domain/series/series-row.ts';
import { silentLogger } from '../../../src/logging/logger.ts';
import { ManualClock } from '../../../src/testing/manual-clock.ts';
import { type Harness, openMemory, openRedis } from '../../support/backends.ts';
import { backendOver, storeOf } from '../../support/copies.ts';
import { storedFacts } from '../../support/stored-facts.ts';
import { visible } from '../../support/visible.ts';

const say = task('say', { keepLogs: 'always' }, async (words: string, ctx) => {
  ctx.log.info(`logged ${words}`, { words });
  await ctx.stream('out').write({ words });
  await ctx.xcom.push('said', words);
  return { words };
});
const fail = task('fail', { retries: 0 }, async (words: string) => {
  throw new RangeError(`failed with ${words}`);
});
const line = say.pipe(task('then', async ({ words }: { words: string }) => words)).as('line');
const asks = ask({ title: 'sure?', choices: ['yes', 'no'], name: 'asks' });
const waits = waitFor(signal<string>('go')).as('waits');
const TASKS = [say, fail, line, asks, waits];

let client: Redis;
let namespaces = 0;
const harnesses: Harness[] = [];
const looms: Fairloom[] = [];

beforeAll(() => {
  client = new Redis(inject('redisPlace'));
});

afterEach(async () => {
  for (const loom of looms.splice(0)) await loom.close({ timeout: 0 }).catch(() => undefined);
  for (const harness of harnesses.splice(0)) await harness.close();
});

afterAll(async () => {
  const keys = await client.keys(`places-${process.pid}-*`);
  if (keys.length > 0) await client.unlink(...keys);
  client.disconnect();
});

function prefixOf(): string {
  return `places-${process.pid}-${++namespaces}`;
}

/** A namespace with something of everything in it, without live workers. */
async function busy(
  prefix: string,
  options: { readonly codec?: Core['codec'] } = {},
): Promise<Harness> {
  const harness = await openRedis(prefix);
  harnesses.push(harness);
  const loom = harness.loom(TASKS, { ...(options as object) });
  const worker = loom.worker({ concurrency: 4 });
  await worker.start();
  await loom.enqueue(say, 'secret', { id: 'said', user: 'acme' });
  await loom.enqueue(fail, 'secret', { id: 'failed', user: 'acme' });
  await loom.enqueue(line, 'secret', { id: 'line', user: 'acme' });
  await loom.enqueue(line, 'secret', { id: 'driven', user: 'bob', form: 'driven' });
  await loom.enqueue(asks, undefined, { id: 'asks', user: 'acme' });
  await loom.enqueue(waits, undefined, { id: 'waits', user: 'acme' });
  await loom.enqueue(say, 'secret', { id: 'later', user: 'acme', delay: '1h' });
  await loom.enqueue(say, 'k', { id: 'keyed', user: 'acme', idempotencyKey: 'k', delay: '3h' });
  await loom.schedules.set('nightly', { every: '1h', task: say, input: 'secret', user: 'acme' });
  await loom.users.set('acme', { weight: 2, maxRunning: 9 });
  await loom.queues.set('default', { rate: { limit: 100, per: '1s' } });
  await loom.xcom.push('mine', 'secret', { user: 'acme', namespace: 'audit', ttl: '1h' });
  await harness.until(async () => {
    const { counts } = await loom.stats();
    return counts.queued + counts.started === 0 && counts.deferred === 2;
  });
  await loom.bulk.start({ where: 'state:failed', action: 'redrive' });
  await worker.stop();
  await harness.quiet();
  return harness;
}

function placeOf(prefix: string, harness?: Harness): RedisPlace {
  return { client, prefix, clock: harness && (() => harness.clock.now()) };
}

/** A client of a namespace, or of a store. */
function loomOn(harness: Pick<Harness, 'backend' | 'clock'>, options: object = {}): Fairloom {
  const { backend, clock } = harness;
  const loom = new Fairloom({ backend, tasks: TASKS, clock, log: silentLogger, ...options });
  looms.push(loom);
  return loom;
}

async function fromRedis(prefix: string, harness: Harness): Promise<Store> {
  return storeOf(placeOf(prefix, harness), harness.clock);
}

/** All that a server has of a namespace: each key as it dumps it, and whether it expires. */
async function dumpOf(prefix: string): Promise<ReadonlyMap<string, string>> {
  const keys = (await client.keys(`${prefix}:*`)).sort();
  const rows = keys.map(async (key): Promise<[string, string]> => {
    const [dump, left] = [await client.dumpBuffer(key), await client.pttl(key)];
    return [key, `${dump?.toString('hex') ?? ''} ${left > 0}`];
  });
  return new Map(await Promise.all(rows));
}

describe('a copy of a namespace', () => {
  it('shows what the namespace shows, and so does its copy', async () => {
    const prefix = prefixOf();
    const harness = await busy(prefix);
    const store = await fromRedis(prefix, harness);
    const before = await visible(harness.backend, store);
    const { backend } = backendOver(harness.clock, store);
    expect(await visible(backend, store)).toEqual(before);
    const other = prefixOf();
    await storeToRedis(store, placeOf(other, harness));
    const copy = redisForTests(client, { prefix: other });
    await copy.setTime(harness.clock.now());
    expect(await visible(copy.backend, store)).toEqual(before);
    for (const one of [backend, copy.backend, harness.backend]) {
      expect((await one.inspect.reconcile({ repair: false })).drift).toEqual([]);
    }
    await copy.dispose();
  });

  // F99
  it('does not count anew what queues had counted of which no look is known', async () => {
    const prefix = prefixOf();
    const harness = await busy(prefix);
    await client.unlink(`${prefix}:series-totals`, `${prefix}:series-new`);
    const { backend } = backendOver(harness.clock, await fromRedis(prefix, harness));
    const [row, user] = [new SeriesRow(), 'acme'];
    row.count('enqueued');
    for (const one of [backend, harness.backend]) {
      await one.series.add([{ queue: 'default', row }]);
      const { cells } = await one.series.read({ step: 'minute', queue: 'default' });
      const own = cells.filter((cell) => cell.user !== user && cell.row.counts.enqueued > 0);
      expect(own.map(({ row: { counts } }) => counts.enqueued)).toEqual([1]);
    }
  });

  it('leaves the namespace as it is', async () => {
    const prefix = prefixOf();
    const harness = await busy(prefix);
    const before = await dumpOf(prefix);
    await fromRedis(prefix, harness);
    expect(await dumpOf(prefix)).toEqual(before);
    expect(before.size).toBeGreaterThan(30);
  });

  it('goes on where it stopped: questions, signals, dead letters, schedules', async () => {
    const prefix = prefixOf();
    const harness = await busy(prefix);
    const store = await fromRedis(prefix, harness);
    const { backend } = backendOver(harness.clock, store);
    const loom = loomOn({ backend, clock: harness.clock });
    const worker = loom.worker({ concurrency: 4 });
    await worker.start();
    const [question] = (await loom.asks.list({ user: 'acme' })).items;
    await loom.asks.answer(question?.id ?? '', { choice: 'yes', by: 'ann' });
    await loom.signal('waits', signal<string>('go'), 'on');
    await harness.until(async () => {
      const states = await Promise.all(['asks', 'waits'].map((id) => loom.tasks.get(id)));
      return states.every((one) => one?.state === 'finished');
    });
    // The bulk action goes on, too.
    await harness.until(async () => (await loom.tasks.get('failed'))?.state === 'failed');
    await harness.clock.advance(3_600_000);
    await harness.until(async () => (await loom.tasks.get('later'))?.state === 'finished');
    expect((await loom.schedules.get('nightly'))?.fired).toBeGreaterThan(0);
    const again = await loom.enqueue(say, 'k', { user: 'acme', idempotencyKey: 'k' });
    expect(again.id).toBe('keyed');
  });

  it('has encrypted values as they stand, with the key or without', async () => {
    const codec = () => encrypted({ keys: [{ id: 'k1', key: KEY }] });
    const prefix = prefixOf();
    const harness = await busy(prefix, { codec: codec() as never });
    const store = await fromRedis(prefix, harness);
    const texts = [...store.records.values()].map(({ payload, result }) => `${payload}${result}`);
    expect(texts.join('')).not.toContain('secret');
    const { backend } = backendOver(harness.clock, store);
    const loom = loomOn({ backend, clock: harness.clock }, { codec: codec() });
    expect((await loom.tasks.get('said'))?.result).toEqual({ words: 'secret' });
    const other = prefixOf();
    await storeToRedis(store, placeOf(other, harness));
    const copy = await openRedis(other);
    harnesses.push(copy);
    const there = loomOn(copy, { codec: codec() });
    expect((await there.tasks.get('said'))?.result).toEqual({ words: 'secret' });
  });
});

const KEY = randomBytes(32);

describe('a namespace is read only', () => {
  it('while no worker is alive there, unless that is forced', async () => {
    const prefix = prefixOf();
    const harness = await openRedis(prefix);
    harnesses.push(harness);
    const loom = harness.loom(TASKS);
    await loom.worker().start();
    await harness.quiet();
    const refused = fromRedis(prefix, harness);
    await expect(refused).rejects.toMatchObject({ code: 'COPY_REFUSED' });
    await expect(refused).rejects.toThrow(/workers live in the source/);
    const place = placeOf(prefix, harness);
    const store = await storeOf(place, harness.clock, { force: true });
    expect(store.workers.size).toBe(0);
    const over = storeToRedis(store, place, { overwrite: true });
    await expect(over).rejects.toThrow(/workers live in the target/);
    await storeToRedis(store, place, { overwrite: true, force: true });
  });

  it('when it is there, and of this layout', async () => {
    const prefix = prefixOf();
    const clock = new ManualClock(0);
    await expect(storeOf(placeOf(prefix), clock)).rejects.toThrow(/there is no data/);
    await client.hset(`${prefix}:meta`, 'layout', 99);
    const other = storeOf(placeOf(prefix), clock);
    await expect(other).rejects.toMatchObject({ code: 'BACKEND_UNSUPPORTED' });
  });

  it('while nothing changes meanwhile', async () => {
    const prefix = prefixOf();
    const harness = await busy(prefix);
    const loom = harness.loom(TASKS);
    const changing = new Proxy(client, {
      get(target, name): unknown {
        if (name !== 'callBuffer') return Reflect.get(target, name);
        return async (command: string, args: (string | number | Buffer)[]) => {
          if (command === 'HSCAN' && String(args[0]).endsWith(':tasks')) {
            await loom.enqueue(say, 'meanwhile', { user: 'acme' });
          }
          return target.callBuffer(command, args);
        };
      },
    });
    const place = { ...placeOf(prefix, harness), client: changing };
    const refused = storeOf(place, harness.clock);
    await expect(refused).rejects.toThrow(/has changed while it was copied/);
  });

  it('where nothing is half done or damaged', async () => {
    const prefix = prefixOf();
    const harness = await busy(prefix);
    for (const [key, field] of [
      ['submissions', 'half done'],
      ['damaged', 'cannot be read'],
    ] as const) {
      if (key === 'damaged') await client.hset(`${prefix}:${key}`, 'task x', 'why');
      else await client.zadd(`${prefix}:${key}`, 1, 'batch');
      await expect(fromRedis(prefix, harness)).rejects.toThrow(new RegExp(field));
      await client.unlink(`${prefix}:${key}`);
    }
    await expect(fromRedis(prefix, harness)).resolves.toBeDefined();
  });
});

describe('a namespace is written only', () => {
  it('when it is empty, or may be overwritten', async () => {
    const prefix = prefixOf();
    const harness = await busy(prefix);
    const before = await dumpOf(prefix);
    const { store } = backendOver(new ManualClock(harness.clock.now()));
    const refused = storeToRedis(store, placeOf(prefix, harness));
    await expect(refused).rejects.toMatchObject({ code: 'COPY_REFUSED' });
    await expect(refused).rejects.toThrow(/not empty.*--overwrite/);
    expect(await dumpOf(prefix)).toEqual(before);
    await storeToRedis(store, placeOf(prefix, harness), { overwrite: true });
    expect((await harness.backend.inspect.stats()).totals.enqueued).toBe(0);
    expect((await harness.backend.inspect.reconcile({ repair: false })).drift).toEqual([]);
  });

  it('whole: one that was broken off says so, and can be made anew', async () => {
    const harness = await openMemory();
    harnesses.push(harness);
    const source = backendOver(harness.clock);
    const loom = loomOn({ backend: source.backend, clock: harness.clock });
    for (let n = 0; n < 50; n++) await loom.enqueue(say, `${n}`, { user: 'acme' });
    const prefix = prefixOf();
    let commands = 0;
    const dying = new Proxy(client, {
      get(target, name): unknown {
        if (name !== 'callBuffer') return Reflect.get(target, name);
        return async (command: string, args: (string | number | Buffer)[]) => {
          if (++commands > 8) throw new Error('Connection is closed.');
          return target.callBuffer(command, args);
        };
      },
    });
    const place = placeOf(prefix, harness);
    const broken = storeToRedis(source.store, { ...place, client: dying });
    await expect(broken).rejects.toMatchObject({ code: 'BACKEND_UNAVAILABLE' });
    const { backend, setTime } = redisForTests(client, { prefix });
    await setTime(harness.clock.now());
    const opened = backend.inspect.stats();
    await expect(opened).rejects.toMatchObject({ code: 'BACKEND_UNSUPPORTED' });
    await expect(opened).rejects.toThrow(/copy that is not complete/);
    await expect(fromRedis(prefix, harness)).rejects.toThrow(/broken off/);
    await expect(storeToRedis(source.store, place)).rejects.toThrow(/broken off.*--overwrite/);
    await storeToRedis(source.store, place, { overwrite: true });
    expect((await backend.inspect.stats()).counts.queued).toBe(50);
    await backend.close();
  });

  it('alone: others on the same server stay as they are', async () => {
    const base = prefixOf();
    const [one, other, tagged] = [`${base}`, `${base}0`, `{${base}}`];
    const harness = await busy(one);
    const beside = await busy(other);
    const before = await dumpOf(other);
    const store = await fromRedis(one, harness);
    await storeToRedis(store, placeOf(tagged, harness));
    await storeToRedis(store, placeOf(one, harness), { overwrite: true });
    expect(await dumpOf(other)).toEqual(before);
    expect(beside.clock.now()).toBeGreaterThan(0);
    const copy = redisForTests(client, { prefix: tagged });
    await copy.setTime(harness.clock.now());
    expect(await visible(copy.backend, store)).toEqual(await visible(harness.backend, store));
    await copy.dispose();
  });
});

describe('a value', () => {
  it('is looked at when it was to be, and has its time left', async () => {
    const harness = await openMemory();
    harnesses.push(harness);
    const { store, backend } = backendOver(harness.clock);
    const loom = loomOn({ backend, clock: harness.clock });
    await loom.xcom.push('rates', 1, { user: 'acme', ttl: '1h' });
    const [value] = store.xcom.all();
    if (value !== undefined) store.xcom.lookLater(value, harness.clock.now() + 7_200_000);
    const prefix = prefixOf();
    await storeToRedis(store, placeOf(prefix, harness));
    expect(storedFacts(await fromRedis(prefix, harness))).toEqual(storedFacts(store));
    expect(value?.lookAt).toBe(harness.clock.now() + 7_200_000);
  });
});

describe('many tasks', () => {
  it('are copied both ways', async () => {
    const many = Number(process.env['FAIRLOOM_COPY_TASKS'] ?? 2_000);
    const harness = await openMemory();
    harnesses.push(harness);
    const { store, backend } = backendOver(harness.clock);
    const loom = loomOn({ backend, clock: harness.clock });
    for (let from = 0; from < many; from += 1_000) {
      const calls = Array.from({ length: Math.min(1_000, many - from) }, (_, n) =>
        loom.enqueue(say, `${from + n}`, { user: `user ${(from + n) % 100}` }),
      );
      await Promise.all(calls);
    }
    const prefix = prefixOf();
    let heard = 0;
    const onTasks = (count: number): void => {
      heard = count;
    };
    await storeToRedis(store, placeOf(prefix, harness), { onTasks });
    const back = await fromRedis(prefix, harness);
    expect(heard).toBe(many);
    expect(back.records.size).toBe(many);
    const { drift } = await backendOver(harness.clock, back).backend.inspect.reconcile({
      repair: false,
    });
    expect(drift).toEqual([]);
  });
});
