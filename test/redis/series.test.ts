/** What only the Redis backend owes its series: keys that expire, bounded memory, one namespace beside another, damage. */
import type { Redis } from 'ioredis';
import { expect, inject, it } from 'vitest';
import { LIMITS } from '../../src/domain/limits.ts';
import type { SeriesEntry, SeriesStore } from '../../src/domain/port/backend.ts';
import { SeriesRow } from '../../src/domain/series/series-row.ts';
import { adminOf, freshPrefix, kitOn } from './faults/kit.ts';

async function setUp() {
  const prefix = freshPrefix();
  const kit = await kitOn(inject('redisUrl'), prefix);
  const raw = adminOf();
  const keys = async (): Promise<readonly string[]> =>
    (await raw.keys(`${prefix}:series*`)).map((key) => key.slice(prefix.length + 1)).sort();
  return { prefix, kit, raw, keys, series: kit.backend.series };
}

function started(queue: string, user?: string): SeriesEntry {
  const row = new SeriesRow();
  row.count('started');
  row.wait.note(5);
  return user === undefined ? { queue, row } : { queue, user, row };
}

/** Adds so often that all of it is taken in. */
async function addUntilTaken(series: SeriesStore, entries: readonly SeriesEntry[]): Promise<void> {
  for (let call = 0; call < LIMITS.seriesTake; call++) {
    await series.add(call === 0 ? entries : entries.slice(0, 1));
  }
}

it('steps expire by themselves, some time after they are no longer kept', async () => {
  const { series, raw, prefix, keys } = await setUp();
  await addUntilTaken(series, [started('default')]);
  const [totals, hour = '', minute = '', ...more] = await keys();
  expect([hour[7], minute[7], totals, more]).toEqual(['h', 'm', 'series-totals', []]);
  const [hourMs, minuteMs, totalsMs] = await Promise.all(
    [hour, minute, 'series-totals'].map((key) => raw.pttl(`${prefix}:${key}`)),
  );
  expect(minuteMs).toBeGreaterThan(LIMITS.seriesMinutesMs);
  expect(minuteMs).toBeLessThanOrEqual(LIMITS.seriesMinutesMs + 60_000);
  expect(hourMs).toBeGreaterThan(LIMITS.seriesHoursMs);
  expect(hourMs).toBeLessThanOrEqual(LIMITS.seriesHoursMs + 3_600_000);
  expect(totalsMs).toBe(-1);
});

it('a step has at most so many rows and bytes, for any number of users', async () => {
  const { series, raw, prefix, keys } = await setUp();
  const queues = Array.from({ length: LIMITS.seriesQueues + 50 }, (_, n) => `queue-${n}`);
  await series.add(queues.map((queue) => started(queue)));
  for (let round = 0; round < 5; round++) {
    const users = Array.from({ length: 300 }, (_, n) => started(`queue-${n}`, `u${round}-${n}`));
    await series.add(users);
  }
  await addUntilTaken(series, [started('queue-1')]);
  const hour = (await keys()).find((key) => key.startsWith('series:h')) ?? '';
  const fields = await raw.hkeys(`${prefix}:${hour}`);
  const named = fields.filter((field) => /^u:[^:]*:./.test(field));
  expect(named).toHaveLength(LIMITS.seriesUsers);
  // Each queue may have a row for its other users.
  expect(fields.length).toBeLessThanOrEqual(2 * (LIMITS.seriesQueues + 1) + LIMITS.seriesUsers);
  const { cells } = await series.read({ step: 'hour' });
  const sum = cells.reduce((all, { user, row }) => {
    return user === undefined ? all : all + row.counts.started;
  }, 0);
  expect(sum).toBe(1_500);
});

it('what is not taken in is bounded, and the oldest of it goes', async () => {
  const { series, raw, prefix, kit } = await setUp();
  await series.add([started('default')]);
  const one = (await raw.lrange(`${prefix}:series-new`, 0, 0))[0] ?? '';
  await raw.rpush(`${prefix}:series-new`, ...Array(2 * LIMITS.seriesPending).fill(one));
  // Each process that takes some in is beaten by another.
  await series.add([started('default')]);
  expect(await raw.llen(`${prefix}:series-new`)).toBeLessThanOrEqual(LIMITS.seriesPending);
  await kit.close();
});

it('of several that take in at once one does, and nothing counts twice', async () => {
  const { series, prefix } = await setUp();
  const others = await Promise.all([1, 2, 3].map(() => kitOn(inject('redisUrl'), prefix)));
  const stores = [series, ...others.map(({ backend }) => backend.series)];
  const calls = 50;
  await Promise.all(
    stores.map(async (store) => {
      for (let call = 0; call < calls; call++) {
        await store.add([started('default'), started('default', 'ann')]);
      }
    }),
  );
  const { cells } = await series.read({ step: 'hour', user: 'ann' });
  const sum = cells.reduce((all, { row }) => all + row.counts.started, 0);
  expect(sum).toBe(stores.length * calls);
});

it('a read of a whole day takes several scripts, each within its budget', async () => {
  const { series, raw, prefix, kit } = await setUp();
  await addUntilTaken(series, [started('default'), started('default', 'ann')]);
  const { last: at } = await series.read({ step: 'minute' });
  const rows = await raw.hgetall(`${prefix}:series:m${at}`);
  const long = Object.fromEntries(
    Array.from({ length: 12 }, (_, n) => [`u:default:user-${n}`, rows['u:default:ann'] ?? '']),
  );
  const minutes = LIMITS.seriesMinutesMs / 60_000;
  const pipeline = raw.pipeline();
  for (let n = 1; n < minutes; n++)
    pipeline.hset(`${prefix}:series:m${at - n}`, { ...rows, ...long });
  await pipeline.exec();
  const before = await calls(raw);
  const { cells, first, last } = await series.read({ step: 'minute', from: 0 });
  const after = await calls(raw);
  expect(last - first + 1).toBe(minutes);
  // A minute that has begun since the rows were written has taken the oldest out.
  expect(cells).toHaveLength(2 + Math.min(minutes - 1, at - first) * 14);
  expect(after - before).toBeGreaterThan(2);
  const mine = await series.read({ step: 'minute', from: 0, queue: 'default', user: 'ann' });
  expect(mine.cells).toHaveLength(Math.min(minutes, at - mine.first + 1));
  await kit.close();
});

it('namespaces know nothing of each other', async () => {
  const one = await setUp();
  const other = await setUp();
  await one.series.add([started('default')]);
  expect((await other.series.read({ step: 'minute' })).cells).toEqual([]);
  expect(await other.keys()).toEqual([]);
});

it.each([
  [
    'a row that another program wrote',
    (raw: ReturnType<typeof adminOf>, key: string) => raw.hset(key, 'q:default', 'x'),
  ],
  ['a row of a user that is cut short', (raw, key) => raw.hset(key, 'u:default:ann', '[1,0,1]')],
  ['a name that is none', (raw, key) => raw.hset(key, 'what', '1')],
  [
    'an addition that cannot be read',
    (raw, _, totals) =>
      raw.lpush(totals.replace('-totals', '-new'), 'x', '5 {\ny', '6 [[1]]\n[[2]]'),
  ],
  [
    'additions of a wrong type',
    (raw, _, totals) => raw.set(totals.replace('-totals', '-new'), 'x'),
  ],
  ['totals that cannot be read', (raw, _, totals) => raw.hset(totals, 'default', 'x')],
  ['a step of a wrong type', (raw, key) => raw.set(key, 'x')],
  ['totals of a wrong type', (raw, _, totals) => raw.set(totals, 'x')],
] satisfies readonly [
  string,
  (raw: ReturnType<typeof adminOf>, key: string, totals: string) => Promise<unknown>,
][])('%s stands in no one’s way', async (_, damage) => {
  const { series, raw, prefix, kit } = await setUp();
  await kit.add();
  await addUntilTaken(series, [started('default'), started('default', 'ann')]);
  const [minute = ''] = await raw.keys(`${prefix}:series:m*`);
  await damage(raw, minute, `${prefix}:series-totals`);
  await series.read({ step: 'minute' });
  await addUntilTaken(series, [started('default'), started('default', 'ann')]);
  const { cells } = await series.read({ step: 'minute', queue: 'default', user: 'ann' });
  expect(cells[0]?.row.counts.started).toBeGreaterThanOrEqual(1);
  expect((await kit.backend.inspect.reconcile({ repair: true })).drift.length).toBeLessThan(3);
  expect((await kit.backend.inspect.reconcile({ repair: false })).drift).toEqual([]);
});

/** Functions that have been called on the server. */
async function calls(raw: Redis): Promise<number> {
  return Number(/fcall:calls=(\d+)/.exec(await raw.info('commandstats'))?.[1]);
}
