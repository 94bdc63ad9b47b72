/** Counts by minute and hour: what is added, what queues have counted themselves, and who has a row. */
import { LIMITS } from '../domain/limits.ts';
import type { SeriesEntry, SeriesReply, SeriesRequest } from '../domain/port/backend.ts';
import {
  SERIES_COUNTS,
  type SeriesCount,
  type SeriesPlace,
  SeriesRow,
} from '../domain/series/series-row.ts';
import { type Cases, retaining } from './cases.ts';
import { type Kit, LEASE_MS } from './kit.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;

type Counts = Partial<Record<SeriesCount, number>>;

function rowOf(counts: Counts, ranMs: readonly number[] = []): SeriesRow {
  const row = new SeriesRow();
  for (const what of SERIES_COUNTS) {
    for (let n = 0; n < (counts[what] ?? 0); n++) row.count(what);
  }
  for (const ms of ranMs) row.run.note(ms);
  return row;
}

/** What a process has counted of a queue, and of users in it. */
function counted(
  counts: Counts,
  users: Readonly<Record<string, Counts>> = {},
  queue = 'default',
): SeriesEntry[] {
  const rows = Object.entries(users).map(([user, of]) => ({ queue, user, row: rowOf(of) }));
  return [{ queue, row: rowOf(counts) }, ...rows];
}

const MINUTES: SeriesRequest = { step: 'minute' };
const HOURS: SeriesRequest = { step: 'hour' };

/** Rows by whose they are: what of their counts is not 0, over all steps. */
function totals({ cells }: SeriesReply): Readonly<Record<string, Counts>> {
  const rows = new Map<string, SeriesRow>();
  for (const { queue, user, row } of cells) {
    const name = user === undefined ? queue : `${queue}/${user}`;
    const sum = rows.get(name) ?? new SeriesRow();
    sum.add(row);
    rows.set(name, sum);
  }
  const shown = [...rows].map(([name, { counts }]): [string, Counts] => {
    const some = SERIES_COUNTS.filter((what) => counts[what] > 0);
    return [name, Object.fromEntries(some.map((what) => [what, counts[what]]))];
  });
  return Object.fromEntries(shown);
}

async function read(kit: Kit, request: SeriesRequest = MINUTES): Promise<Record<string, Counts>> {
  return totals(await kit.backend.series.read(request));
}

function add(kit: Kit, entries: readonly SeriesEntry[]): Promise<void> {
  return kit.backend.series.add(entries);
}

/** The next minute begins, by the clock that a step reads. */
async function nextMinute(kit: Kit): Promise<void> {
  await kit.shift(MINUTE_MS - (kit.now() % MINUTE_MS));
}

/** What is counted, and when. */
export const counts: Cases = {
  'adds to the minute and to the hour of now': async (kit, expect) => {
    const began = kit.now();
    const entries = [{ queue: 'q', row: rowOf({ started: 2 }, [100, 100]) }];
    await add(kit, entries);
    await add(kit, [{ queue: 'q', row: rowOf({ started: 1 }, [100, 9_000]) }]);
    await nextMinute(kit);
    await add(kit, entries);
    const minutes = await kit.backend.series.read(MINUTES);
    expect(minutes.cells.map(({ at }) => at)).toEqual([
      Math.floor(began / MINUTE_MS),
      Math.floor(began / MINUTE_MS) + 1,
    ]);
    expect(minutes.cells.map(({ row }) => row.counts.started)).toEqual([3, 2]);
    const [first] = minutes.cells;
    expect(first?.row.run.percentiles()).toEqual(
      rowOf({}, [100, 100, 100, 9_000]).run.percentiles(),
    );
    const hours = await kit.backend.series.read(HOURS);
    expect(hours.cells.reduce((sum, { row }) => sum + row.counts.started, 0)).toBe(5);
    expect(hours.cells.length).toBeLessThanOrEqual(2);
  },

  'has of a queue what the queue has counted, however many processes add': async (kit, expect) => {
    await kit.addMany(5);
    await add(kit, counted({}));
    await kit.serve(2);
    await kit.fail(await kit.leaseOne());
    await kit.retry(await kit.leaseOne(), 1_000_000);
    await kit.cancel(await kit.add({ id: 'canceled' }));
    await add(kit, counted({ started: 4, finished: 1, enqueued: 9 }));
    const whole = { enqueued: 6, started: 4, finished: 2, failed: 1, retried: 1, canceled: 1 };
    expect(await read(kit)).toEqual({ default: whole });
    await add(kit, counted({ finished: 3 }));
    expect(await read(kit)).toEqual({ default: whole });
    expect(await read(kit, HOURS)).toEqual({ default: whole });
  },

  // F99
  'counts what tasks did that are gone before the first row comes': retaining(
    { finishedMs: 0, canceledMs: 0 },
    async (kit, expect) => {
      const canceled = await kit.addMany(3);
      for (const id of canceled) await kit.cancel(id);
      const [finished = ''] = await kit.addMany(1);
      await kit.serve(1);
      await kit.jump(2 * MINUTE_MS);
      const records = await kit.backend.inspect.get([...canceled, finished]);
      expect(records).toEqual(records.map(() => undefined));
      await add(kit, counted({}));
      const whole = { enqueued: 4, finished: 1, canceled: 3 };
      expect(await read(kit)).toEqual({ default: whole });
      await kit.add();
      await add(kit, counted({}));
      expect(await read(kit)).toEqual({ default: { ...whole, enqueued: 5 } });
    },
  ),

  'counts lost leases of workers that told of nothing': async (kit, expect) => {
    await kit.add();
    await kit.leaseOne();
    await kit.jump(LEASE_MS + 1);
    await kit.advance(10_000);
    await add(kit, counted({}));
    expect(await read(kit)).toMatchObject({ default: { lost: 1 } });
  },

  'a queue that was not looked at for longer than series are kept begins with what is told': async (
    kit,
    expect,
  ) => {
    await kit.add();
    await add(kit, counted({}));
    await kit.addMany(3);
    await kit.jump(LIMITS.seriesHoursMs + HOUR_MS);
    await add(kit, counted({ enqueued: 1 }));
    expect(await read(kit)).toEqual({ default: { enqueued: 1 } });
    await kit.addMany(2);
    await add(kit, counted({}));
    expect(await read(kit)).toEqual({ default: { enqueued: 3 } });
  },

  'keeps minutes for a day, and hours for longer': async (kit, expect) => {
    const from = kit.now();
    await add(kit, counted({ started: 1 }));
    await kit.jump(LIMITS.seriesMinutesMs - 2 * MINUTE_MS);
    expect(await read(kit, { ...MINUTES, from })).toEqual({ default: { started: 1 } });
    await kit.jump(3 * MINUTE_MS);
    await add(kit, counted({ started: 1 }));
    expect(await read(kit, { ...MINUTES, from })).toEqual({ default: { started: 1 } });
    expect(await read(kit, { ...HOURS, from })).toEqual({ default: { started: 2 } });
    await kit.jump(LIMITS.seriesHoursMs);
    expect(await read(kit, { ...HOURS, from })).toEqual({});
  },

  'reads the steps between two moments, and the newest without': async (kit, expect) => {
    for (let minute = 0; minute < 4; minute++) {
      await add(kit, counted({ started: 10 ** minute }));
      await nextMinute(kit);
    }
    const now = kit.now();
    const started = async (request: Partial<SeriesRequest>): Promise<number> =>
      (await read(kit, { ...MINUTES, ...request }))['default']?.started ?? 0;
    expect(await started({})).toBe(1_111);
    expect(await started({ from: now - 2 * MINUTE_MS })).toBe(1_100);
    expect(await started({ from: now - 2 * MINUTE_MS - 1 })).toBe(1_110);
    expect(await started({ to: now - 2 * MINUTE_MS })).toBe(11);
    expect(await started({ from: now - 3 * MINUTE_MS, to: now - MINUTE_MS })).toBe(110);
    expect(await started({ from: now + HOUR_MS })).toBe(0);
    const { first, last } = await kit.backend.series.read(MINUTES);
    expect([last, last - first + 1]).toEqual([
      Math.floor(now / MINUTE_MS),
      LIMITS.seriesMinutesShown,
    ]);
    const whole = await kit.backend.series.read({ ...MINUTES, from: 0 });
    expect(whole.last - whole.first + 1).toBe(LIMITS.seriesMinutesMs / MINUTE_MS);
  },

  'a clock that steps back counts in the minute that it shows': async (kit, expect) => {
    const first = Math.floor(kit.now() / MINUTE_MS);
    await add(kit, counted({ started: 1 }));
    await kit.shift(HOUR_MS);
    await add(kit, counted({ started: 10 }));
    await kit.shift(-HOUR_MS);
    await add(kit, counted({ started: 100 }));
    const { cells } = await kit.backend.series.read(MINUTES);
    expect(cells.filter(({ at }) => at === first).map(({ row }) => row.counts.started)).toEqual([
      101,
    ]);
  },
};

function many(count: number, name: string, each: Counts): Readonly<Record<string, Counts>> {
  return Object.fromEntries(Array.from({ length: count }, (_, n) => [`${name}${n}`, each]));
}

/** Queues and users are told apart, as far as there are rows. */
export const rows: Cases = {
  'tells queues and users of any names apart': async (kit, expect) => {
    const users = { ann: { started: 1 }, 'a:b': { started: 2 }, ':': { started: 3 } };
    await add(kit, [
      ...counted({ started: 6 }, users, 'one'),
      ...counted({ started: 2 }, users, 'two'),
    ]);
    await add(kit, counted({ started: 1 }, { ann: { started: 1, finished: 1 } }, 'one'));
    expect(await read(kit)).toEqual({
      one: { started: 7 },
      'one/ann': { started: 2, finished: 1 },
      'one/a:b': { started: 2 },
      'one/:': { started: 3 },
      two: { started: 2 },
      'two/ann': { started: 1 },
      'two/a:b': { started: 2 },
      'two/:': { started: 3 },
    });
    const names = async (request: Partial<SeriesPlace>): Promise<readonly string[]> =>
      Object.keys(await read(kit, { ...MINUTES, ...request })).sort();
    expect(await names({ queue: 'two' })).toEqual(['two', 'two/:', 'two/a:b', 'two/ann']);
    expect(await names({ user: 'a:b' })).toEqual(['one/a:b', 'two/a:b']);
    expect(await names({ queue: 'one', user: ':' })).toEqual(['one/:']);
    expect(await names({ queue: 'none' })).toEqual([]);
  },

  'those with the most traffic have rows, the rest is one; nothing is lost': async (
    kit,
    expect,
  ) => {
    const { seriesUsers } = LIMITS;
    for (let round = 1; round <= 8; round++) {
      const small = many(seriesUsers, `small${round}-`, { started: 1 });
      await add(kit, counted({}, { big: { started: 2 * seriesUsers }, ...small }));
    }
    const found = await read(kit, { step: 'minute', queue: 'default' });
    const users = Object.keys(found).filter((name) => !['default', 'default/'].includes(name));
    expect(users.length).toBe(seriesUsers);
    expect(found['default/big']).toEqual({ started: 16 * seriesUsers });
    const sum = Object.entries(found).reduce((total, [name, { started = 0 }]) => {
      return name === 'default' ? total : total + started;
    }, 0);
    expect(sum).toBe(24 * seriesUsers);
  },

  'one that comes late goes on from the rank of the one whose row it takes': async (
    kit,
    expect,
  ) => {
    await add(kit, counted({}, many(LIMITS.seriesUsers, 'old', { started: 5 })));
    for (let round = 0; round < 5; round++) {
      await add(kit, counted({}, { late: { started: 1 } }));
      await add(kit, counted({}, { [`other${round}`]: { started: 1 } }));
    }
    expect(await read(kit)).toMatchObject({ 'default/late': { started: 5 } });
  },

  'queues beyond those that have rows are one, and so are their users': async (kit, expect) => {
    const queues = Array.from({ length: LIMITS.seriesQueues + 2 }, (_, n) => `q${n}`);
    for (const queue of queues)
      await add(kit, counted({ started: 1 }, { ann: { started: 1 } }, queue));
    const found = await read(kit);
    expect(found['']).toEqual({ started: 2 });
    expect(found['/']).toEqual({ started: 2 });
    expect(Object.keys(found).filter((name) => /^q\d+$/.test(name)).length).toBe(
      LIMITS.seriesQueues,
    );
  },
};
