import { LIMITS } from '../domain/limits.ts';
import { allPages } from '../domain/port/all-pages.ts';
import type { TaskFilter } from '../domain/port/backend.ts';
import type { TaskRow } from '../domain/task/task.ts';
import type { Cases } from './cases.ts';
import { FATAL, type Kit } from './kit.ts';

/** JSON text of so many bytes, of which some characters take two. */
function textOf(bytes: number): string {
  return JSON.stringify('é'.repeat(bytes / 4) + 'x'.repeat(bytes / 2 - 2));
}

const MIB = textOf(1_048_576);

/** How many rows each page of a listing has, and all rows. */
async function pagesOf(
  kit: Kit,
  filter: TaskFilter,
  page: { readonly limit: number; readonly values?: boolean },
): Promise<{ readonly sizes: readonly number[]; readonly rows: readonly TaskRow[] }> {
  const sizes: number[] = [];
  const rows: TaskRow[] = [];
  const pages = allPages(page.limit, (part) => {
    return kit.backend.inspect.list(filter, { ...page, ...part });
  });
  for await (const { items } of pages) {
    sizes.push(items.length);
    rows.push(...items);
  }
  return { sizes, rows };
}

/** Listings where what is listed is long, or much: pages that end by weight, and go on where they ended. */
export const weighed: Cases = {
  // F68
  'a listing tells no payload and no result unless it is asked': async (kit, expect) => {
    await kit.add({ payload: '"short"', delayMs: 60_000 });
    await kit.add({ payload: textOf(4_096), delayMs: 60_000 });
    await kit.add({ payload: '"done"' });
    const [leased] = await kit.lease(1);
    if (leased === undefined) throw new TypeError('a lease');
    await kit.settle(leased, { type: 'finish', result: '"well"' });
    const later = await pagesOf(kit, { state: 'scheduled' }, { limit: 10 });
    expect(later.rows).toHaveLength(2);
    for (const row of later.rows) expect('payload' in row).toBe(false);
    const [bare] = (await pagesOf(kit, { state: 'finished' }, { limit: 10 })).rows;
    expect(bare !== undefined && 'payload' in bare).toBe(false);
    expect(bare !== undefined && 'result' in bare).toBe(false);
    expect(bare).toMatchObject({ name: leased.name, options: leased.options });
    const whole = await pagesOf(kit, { state: 'scheduled' }, { limit: 10, values: true });
    expect(whole.rows.map(({ payload }) => payload)).toEqual(['"short"', textOf(4_096)]);
    const [done] = (await pagesOf(kit, { state: 'finished' }, { limit: 10, values: true })).rows;
    expect(done).toMatchObject({ payload: '"done"', result: '"well"' });
    expect(done).toEqual((await kit.backend.inspect.get([leased.id]))[0]);
  },

  // F68
  'a page with values ends behind the row that reaches its weight': async (kit, expect) => {
    const ids = await kit.addMany(10, { payload: MIB, delayMs: 60_000 });
    const { sizes, rows } = await pagesOf(kit, { state: 'scheduled' }, { limit: 50, values: true });
    expect(sizes).toEqual([4, 4, 2]);
    expect(rows.map(({ id }) => id)).toEqual(ids);
    expect(rows.every(({ payload }) => payload === MIB)).toBe(true);
    const light = await pagesOf(kit, { state: 'scheduled' }, { limit: 50 });
    expect(light.sizes).toEqual([10]);
  },

  // F68
  'so does one of leased tasks, and of those of a user in line': async (kit, expect) => {
    await kit.addMany(6, { payload: MIB });
    const line = { state: 'queued', user: 'ann' } as const;
    expect((await pagesOf(kit, line, { limit: 50, values: true })).sizes).toEqual([4, 2]);
    const leases = await kit.leaseMany(6);
    const { sizes, rows } = await pagesOf(kit, { state: 'started' }, { limit: 50, values: true });
    expect(sizes).toEqual([4, 2]);
    expect(rows.map(({ id }) => id)).toEqual(leases.map(({ id }) => id));
  },

  // F68
  'results weigh where they are told, and are never cut': async (kit, expect) => {
    await kit.addMany(6);
    const leases = await kit.lease(6);
    for (const leased of leases) await kit.settle(leased, { type: 'finish', result: MIB });
    expect((await pagesOf(kit, { state: 'finished' }, { limit: 50 })).sizes).toEqual([6]);
    const whole = await pagesOf(kit, { state: 'finished' }, { limit: 50, values: true });
    expect(whole.sizes).toEqual([4, 2]);
    expect(whole.rows.every(({ result }) => result === MIB)).toBe(true);
    const records = await kit.backend.inspect.get(leases.map(({ id }) => id));
    expect(records.every((record) => record?.result === MIB)).toBe(true);
  },

  // F68
  'a filter that lets few through makes pages short, and loses nothing': async (kit, expect) => {
    await kit.addMany(1_200, { delayMs: 60_000 });
    const id = await kit.add({ delayMs: 60_000, name: 'rare' });
    await kit.addMany(1_100, { delayMs: 60_000 });
    const { sizes, rows } = await pagesOf(kit, { state: 'scheduled', name: 'rare' }, { limit: 5 });
    expect(sizes).toEqual([0, 1, 0]);
    expect(rows.map((row) => row.id)).toEqual([id]);
  },

  // F68
  '500 rows of 60 dependencies each are one page': async (kit, expect) => {
    const on = await kit.addMany(60, { delayMs: 60_000 });
    const ids = await kit.addMany(520, { dependsOn: on });
    const { sizes, rows } = await pagesOf(kit, { state: 'deferred' }, { limit: 500 });
    expect(sizes).toEqual([500, 20]);
    expect(rows.map(({ id }) => id)).toEqual(ids);
    expect(rows.every(({ blockedBy }) => blockedBy.length === 60)).toBe(true);
  },

  // F68
  'a user in line in 250 queues is listed through all of them': async (kit, expect) => {
    const ids: string[] = [];
    for (let at = 0; at < 250; at++) {
      const queue = `q${String(at).padStart(3, '0')}`;
      if (at % 40 !== 7) await kit.setQueue({ maxRunning: 5 }, queue);
      else for (const level of [6, 3, 1] as const) ids.push(await kit.add({ queue, level }));
    }
    for (const limit of [2, 500]) {
      const { rows } = await pagesOf(kit, { state: 'queued', user: 'ann' }, { limit });
      expect(rows.map(({ id }) => id)).toEqual(ids);
    }
  },

  // F68
  '1,100 started tasks are listed by the end of their leases': async (kit, expect) => {
    await kit.addMany(1_100);
    const leases = await kit.leaseMany(1_100, { leaseMs: 60_000 });
    const [first] = leases;
    const { sizes, rows } = await pagesOf(kit, { state: 'started' }, { limit: 500 });
    expect(sizes).toEqual([500, 500, 100]);
    expect(rows.map(({ id }) => id)).toEqual(leases.map(({ id }) => id));
    expect((await pagesOf(kit, { state: 'started', user: 'bob' }, { limit: 50 })).rows).toEqual([]);
    const one = await kit.backend.inspect.list({ state: 'started' }, { limit: 1 });
    expect(one.items.map(({ id }) => id)).toEqual([first?.id]);
  },

  // F68
  'long payloads are leased whole, in order, however few at a time': async (kit, expect) => {
    const users = ['ann', 'bob', 'cem'];
    const ids: string[] = [];
    for (let at = 0; at < 9; at++) {
      const payload = at % 4 === 3 ? '"short"' : MIB;
      ids.push(await kit.add({ user: users[at % 3] ?? '', payload }));
    }
    const leased: string[] = [];
    for (let call = 0; leased.length < ids.length && call < 20; call++) {
      const requestId = `long-${call}`;
      const { leases, more } = await kit.leaseReply({ limit: 9 - leased.length, requestId });
      expect(leases.length > 0).toBe(true);
      const again = await kit.leaseReply({ limit: 9 - leased.length, requestId });
      expect(again.leases.map(({ id }) => id)).toEqual(leases.map(({ id }) => id));
      for (const { id, payload } of leases) {
        expect(payload === (ids.indexOf(id) % 4 === 3 ? '"short"' : MIB)).toBe(true);
        leased.push(id);
      }
      expect(more || leased.length === ids.length).toBe(true);
    }
    expect(leased).toEqual(ids);
  },

  // F68
  'what upstreams gave and threw goes along as far as it fits': async (kit, expect) => {
    const edges = {
      onFailure: 'run',
      onCancel: 'run',
      onMissing: 'refuse',
      allowCrossUser: false,
    } as const;
    const ups = await kit.addMany(6);
    const id = await kit.add({ dependsOn: ups, edges });
    const error = JSON.stringify({ name: 'Error', message: 'x'.repeat(16_000) });
    for (const leased of await kit.lease(6)) {
      await kit.settle(leased, { type: 'dead-letter', cause: FATAL, error });
    }
    const after = await kit.leaseOne();
    expect(after.id).toBe(id);
    expect(after.upstreams.map(({ cut }) => cut)).toEqual([false, false, false, false, true, true]);
    for (const fact of after.upstreams) expect(fact.error).toBe(fact.cut ? undefined : error);
  },

  // F68
  'schedules page by the weight of what they store': async (kit, expect) => {
    const { schedules } = kit.backend;
    for (let at = 0; at < 6; at++) {
      const change = {
        id: `s${at}`,
        revision: 0,
        spec: MIB,
        paused: true,
        overlap: 'skip',
      } as const;
      await schedules.set(change);
    }
    const sizes: number[] = [];
    for await (const { items } of allPages(50, (page) => schedules.list(page))) {
      sizes.push(items.length);
      expect(items.every(({ spec }) => spec === MIB)).toBe(true);
    }
    expect(sizes).toEqual([4, 2]);
  },

  // F68
  'many long records and values are read whole, in their order': async (kit, expect) => {
    const ids = await kit.addMany(9, { payload: MIB, delayMs: 60_000 });
    const asked = [...ids, 'nobody', ...ids.toReversed()];
    const records = await kit.backend.inspect.get(asked);
    expect(records.map((record) => record?.id)).toEqual(
      asked.map((id) => (id === 'nobody' ? undefined : id)),
    );
    expect((await kit.backend.inspect.status(asked)).map((one) => one?.state)).toEqual(
      asked.map((id) => (id === 'nobody' ? undefined : 'scheduled')),
    );
    const text = textOf(LIMITS.xcomValueBytes);
    const places = Array.from({ length: 9 }, (_, at) => ({
      user: 'u',
      namespace: 'n',
      key: `k${at}`,
    }));
    for (const place of places) {
      await kit.backend.xcom.write([{ type: 'push', place, text, ttlMs: 60_000 }]);
    }
    const other = { user: 'u', namespace: 'n', key: 'none' };
    const values = await kit.backend.xcom.read([...places, other, ...places]);
    expect(values).toHaveLength(19);
    expect(values.map((value) => value?.text === text)).toEqual(values.map((_, at) => at !== 9));
  },
};
