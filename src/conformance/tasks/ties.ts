import { allPages } from '../../domain/port/all-pages.ts';
import type { TaskState } from '../../domain/task/task.ts';
import { type Cases, retaining } from '../cases.ts';
import { type Kit, LEASE_MS, REFUSING_EDGES, type TaskFields } from '../kit.ts';

const MINUTE_MS = 60_000;

/** Ids of which each comes before the one before it, by their bytes. */
function backwards(count: number, prefix = 't'): readonly string[] {
  return Array.from({ length: count }, (_, at) => `${prefix}${String(9_999 - at)}`);
}

/** Stores them in this order, in one batch, at one moment; their ids. */
async function batch(
  kit: Kit,
  fields: TaskFields,
  ids: readonly string[] = backwards(10),
): Promise<readonly string[]> {
  await kit.send(...ids.map((id) => ({ ...fields, id })));
  return ids;
}

/** Ids of a state as the listing tells them, by pages of three. */
async function listed(kit: Kit, state: TaskState): Promise<readonly string[]> {
  const ids: string[] = [];
  for await (const { items } of allPages(3, (page) => kit.backend.inspect.list({ state }, page))) {
    ids.push(...items.map(({ id }) => id));
  }
  return ids;
}

async function served(kit: Kit, count: number): Promise<readonly string[]> {
  return (await kit.serve(count)).map(({ id }) => id);
}

const waiting: Cases = {
  // F4
  'those of one batch with one delay start in the order of arrival': async (kit, expect) => {
    const ids = await batch(kit, { delayMs: 300 });
    expect(await listed(kit, 'scheduled')).toEqual(ids);
    await kit.advance(300);
    expect(await served(kit, 10)).toEqual(ids);
  },

  // F4
  'those that are due at one moment start in the order of arrival': async (kit, expect) => {
    const executeAfter = kit.now() + 500;
    const ids = backwards(10);
    // Each at another moment, in a call of its own.
    for (const id of ids) {
      await kit.add({ id, executeAfter });
      await kit.advance(10);
    }
    expect(await listed(kit, 'scheduled')).toEqual(ids);
    await kit.advance(400);
    expect(await served(kit, 10)).toEqual(ids);
  },

  // F4
  'those of two users with one delay start in the order of arrival, each user by itself': async (
    kit,
    expect,
  ) => {
    const ids = backwards(10);
    const owner = (at: number): string => (at % 2 === 0 ? 'ann' : 'bob');
    await kit.send(...ids.map((id, at) => ({ id, user: owner(at), delayMs: 300 })));
    await kit.advance(300);
    const leases = await kit.serve(10);
    for (const user of ['ann', 'bob']) {
      const own = leases.filter((leased) => leased.user === user).map(({ id }) => id);
      expect(own).toEqual(ids.filter((_, at) => owner(at) === user));
    }
  },

  // F4
  'those that come back after one delay start in the order of arrival': async (kit, expect) => {
    const ids = await batch(kit, {});
    for (const way of ['release', 'retry'] as const) {
      const leases = await kit.lease(10);
      for (const leased of leases.toReversed()) {
        if (way === 'release') await kit.release(leased, 300);
        else await kit.retry(leased, 300);
      }
      expect([way, await listed(kit, 'scheduled')]).toEqual([way, ids]);
      await kit.advance(300);
      expect([
        way,
        await kit.backend.inspect
          .list({ state: 'queued', queue: 'default', user: 'ann' }, { limit: 10 })
          .then(({ items }) => items.map(({ id }) => id)),
      ]).toEqual([way, ids]);
    }
    expect(await served(kit, 10)).toEqual(ids);
  },

  // F4
  'those that come back at once keep their places in any order of settling': async (
    kit,
    expect,
  ) => {
    const ids = await batch(kit, {});
    const first = await kit.lease(5);
    for (const leased of [first[3], first[0], first[4], first[1], first[2]]) {
      if (leased !== undefined) await kit.release(leased);
    }
    expect(await served(kit, 10)).toEqual(ids);
  },
};

const notified: Cases = {
  // F4
  'dependents of one task go on in the order of arrival': async (kit, expect) => {
    const upstream = await kit.add();
    const ids = await batch(kit, { dependsOn: [upstream] });
    expect(await listed(kit, 'deferred')).toEqual(ids);
    const page = await kit.backend.inspect.dependents(upstream, { limit: 10 });
    expect(page.items.map(({ id }) => id)).toEqual(ids);
    await kit.runToEnd(upstream);
    expect(await served(kit, 10)).toEqual(ids);
  },

  // F4
  'dependents of one that is stored after them go on in the order of arrival': async (
    kit,
    expect,
  ) => {
    const edges = { ...REFUSING_EDGES, onMissing: 'block' } as const;
    const ids = await batch(kit, { dependsOn: ['late'], edges });
    const page = await kit.backend.inspect.dependents('late', { limit: 10 });
    expect(page.items.map(({ id }) => id)).toEqual(ids);
    await kit.add({ id: 'late' });
    await kit.runToEnd('late');
    expect(await served(kit, 10)).toEqual(ids);
  },

  // F4
  'dependents that were held go on in the order of arrival': async (kit, expect) => {
    const upstream = await kit.add();
    const ids = await batch(kit, { dependsOn: [upstream] });
    await kit.fail(await kit.leaseOne());
    await kit.rest();
    const page = await kit.backend.inspect.dependents(upstream, { limit: 10 });
    expect(page.items.map(({ id }) => id)).toEqual(ids);
    await kit.backend.tasks.redrive(upstream);
    await kit.runToEnd(upstream);
    expect(await served(kit, 10)).toEqual(ids);
  },

  // F4
  'of tasks that end at one moment the first to end tells its dependents first': async (
    kit,
    expect,
  ) => {
    // More than one step tells, so that some are left over to the next.
    const upstreams = await batch(kit, {}, backwards(4, 'u'));
    const below: string[] = [];
    for (const [at, upstream] of upstreams.entries()) {
      const ids = backwards(60, `d${at}`);
      await batch(kit, { dependsOn: [upstream] }, ids);
      below.push(...ids);
    }
    await kit.settleAll(await kit.lease(4), { type: 'finish', result: 'null' });
    await kit.rest();
    expect((await kit.leaseMany(240)).map(({ id }) => id)).toEqual(below);
  },

  // F4
  'of tasks that expire at one moment the first to end tells its dependents first': async (
    kit,
    expect,
  ) => {
    const upstreams = await batch(kit, { expiresInMs: 1_000 }, backwards(4, 'u'));
    const edges = { ...REFUSING_EDGES, onFailure: 'run' } as const;
    const below: string[] = [];
    for (const [at, upstream] of upstreams.entries()) {
      const ids = backwards(60, `d${at}`);
      await batch(kit, { dependsOn: [upstream], edges }, ids);
      below.push(...ids);
    }
    await kit.advance(1_000);
    expect((await kit.leaseMany(240)).map(({ id }) => id)).toEqual(below);
  },
};

const ending: Cases = {
  // F4
  'those that expire at one moment end in the order of arrival': async (kit, expect) => {
    const ids = await batch(kit, { expiresInMs: 1_000 });
    await kit.advance(1_000);
    expect(await listed(kit, 'failed')).toEqual(ids);
  },

  // F4
  'waits that end at one moment end in the order of arrival': async (kit, expect) => {
    const upstream = await kit.add();
    const ids = await batch(kit, { dependsOn: [upstream] });
    await kit.cancel(upstream);
    await kit.rest();
    expect((await listed(kit, 'canceled')).slice(1)).toEqual(ids);
  },

  // F4
  'leases that end at one moment are lost in the order of arrival': async (kit, expect) => {
    const ids = await batch(kit, {});
    for (let at = 0; at < 10; at++) await kit.leaseOne({ worker: at % 3 === 0 ? 'a' : 'b' });
    expect(await listed(kit, 'started')).toEqual(ids);
    for (const id of ids.toReversed()) await kit.cancel(id);
    await kit.advance(LEASE_MS);
    expect(await listed(kit, 'canceled')).toEqual(ids);
  },

  // F4
  'ended ones stand in the order of their ends, also of one moment': async (kit, expect) => {
    await batch(kit, {});
    const leases = await kit.lease(10);
    const order = [4, 9, 0, 7, 2, 8, 1, 6, 3, 5].flatMap((at) => leases[at] ?? []);
    await kit.settleAll(order, { type: 'finish', result: 'null' });
    const ids = order.map(({ id }) => id);
    expect(await listed(kit, 'finished')).toEqual(ids);
    // One is taken out of their middle, and the first.
    for (const at of [4, 0])
      expect(await kit.backend.tasks.remove(ids[at] ?? '')).toMatchObject({ kind: 'ok' });
    expect(await listed(kit, 'finished')).toEqual(ids.filter((_, at) => at !== 4 && at !== 0));
  },

  // F4
  'those that ended are listed whole when many are taken out of their middle': async (
    kit,
    expect,
  ) => {
    const ids = await kit.addMany(700);
    const leases = await kit.leaseMany(700);
    await kit.settleAll(leases, { type: 'finish', result: 'null' });
    const kept = new Set([...ids.slice(0, 20), ...ids.slice(350)]);
    // From behind, from before, and from both sides of what is gone.
    const gone = [...ids.slice(20, 200).toReversed(), ...ids.slice(200, 350)];
    for (const id of gone) expect(await kit.backend.tasks.remove(id)).toMatchObject({ kind: 'ok' });
    const left = ids.filter((id) => kept.has(id));
    for (const limit of [500, 7]) {
      const found: string[] = [];
      const page = kit.backend.inspect;
      for await (const { items } of allPages(limit, (at) => page.list({ state: 'finished' }, at))) {
        found.push(...items.map(({ id }) => id));
      }
      expect([limit, found]).toEqual([limit, left]);
    }
    // Once those before the gap are gone, so is the gap.
    for (const id of ids.slice(0, 20)) await kit.backend.tasks.remove(id);
    expect((await listed(kit, 'finished')).slice(0, 2)).toEqual(ids.slice(350, 352));
    expect((await kit.stats()).counts.finished).toBe(350);
  },

  // F4
  'of those that ended at one moment the first to end are removed first': retaining(
    { finishedCount: 3 },
    async (kit, expect) => {
      await batch(kit, {});
      const leases = await kit.lease(10);
      const order = [4, 9, 0, 7, 2, 8, 1, 6, 3, 5].flatMap((at) => leases[at] ?? []);
      await kit.settleAll(order, { type: 'finish', result: 'null' });
      const ids = order.map(({ id }) => id);
      // The place of one that was removed counts no more.
      await kit.backend.tasks.remove(ids[8] ?? '');
      await kit.advance(MINUTE_MS + 1);
      expect(await listed(kit, 'finished')).toEqual([ids[6], ids[7], ids[9]]);
      expect((await kit.stats()).counts.finished).toBe(3);
    },
  ),

  // F4
  'of those that are too many the first to end is removed, also behind a gap': retaining(
    { finishedCount: 3 },
    async (kit, expect) => {
      const ids = await batch(kit, {});
      await kit.settleAll(await kit.lease(10), { type: 'finish', result: 'null' });
      // Out of the middle, then what stood before it.
      for (const at of [4, 3, 5, 0, 1, 2]) await kit.backend.tasks.remove(ids[at] ?? '');
      expect(await listed(kit, 'finished')).toEqual(ids.slice(6));
      await kit.advance(MINUTE_MS + 1);
      expect(await listed(kit, 'finished')).toEqual(ids.slice(7));
    },
  ),

  // F4
  'one that was read while others were removed stands again where it ended': retaining(
    { finishedMs: MINUTE_MS, canceledMs: MINUTE_MS },
    async (kit, expect) => {
      const [read = '', other = ''] = await batch(kit, {}, backwards(2, 'u'));
      await kit.runToEnd(read);
      const reader = await kit.add({ dependsOn: [read], delayMs: 10 * MINUTE_MS });
      await kit.runToEnd(other);
      await kit.jump(2 * MINUTE_MS);
      expect(await kit.states([read, other])).toEqual(['finished', 'missing']);
      const late = await kit.add();
      await kit.runToEnd(late);
      expect(await listed(kit, 'finished')).toEqual([read, late]);
      expect((await kit.stats()).counts.finished).toBe(2);
      await kit.cancel(reader);
      await kit.rest();
      expect(await kit.states([read, late])).toEqual(['missing', 'finished']);
    },
  ),
};

const readers: Cases = {
  // F4
  'those that are read while retention passes them are listed in the order of their ends':
    retaining({ finishedMs: MINUTE_MS }, async (kit, expect) => {
      const ids = await batch(kit, {}, backwards(6, 'u'));
      await kit.settleAll(await kit.lease(6), { type: 'finish', result: 'null' });
      const readersOf = [ids[0], ids[1], ids[3], ids[5]];
      const readers = [];
      for (const id of readersOf) {
        readers.push(await kit.add({ dependsOn: [id ?? ''], delayMs: 60 * MINUTE_MS }));
      }
      await kit.jump(2 * MINUTE_MS);
      expect(await listed(kit, 'finished')).toEqual(readersOf);
      const late = await batch(kit, {}, backwards(4, 'v'));
      await kit.settleAll(await kit.lease(4), { type: 'finish', result: 'null' });
      // The first comes back before those that are read still.
      await kit.cancel(readers[0] ?? '');
      await kit.cancel(readers[2] ?? '');
      await kit.backend.tasks.remove(late[1] ?? '');
      expect(await listed(kit, 'finished')).toEqual([...readersOf, late[0], late[2], late[3]]);
      await kit.rest();
      expect(await listed(kit, 'finished')).toEqual([ids[1], ids[5], late[0], late[2], late[3]]);
      for (const reader of [readers[1], readers[3]]) await kit.cancel(reader ?? '');
      await kit.rest();
      expect(await listed(kit, 'finished')).toEqual([late[0], late[2], late[3]]);
    }),

  // F4
  'retention passes many that are read, in bounded steps': retaining(
    { finishedMs: MINUTE_MS },
    async (kit, expect) => {
      const ids = await kit.addMany(250);
      await kit.settleAll(await kit.leaseMany(250), { type: 'finish', result: 'null' });
      const edges = { onFailure: 'run', onCancel: 'run' } as const;
      const reader = { delayMs: 60 * MINUTE_MS, edges: { ...REFUSING_EDGES, ...edges } };
      const first = await kit.add({ ...reader, dependsOn: ids.slice(0, 120) });
      const second = await kit.add({ ...reader, dependsOn: ids.slice(120, 240) });
      await kit.jump(2 * MINUTE_MS);
      expect(await listed(kit, 'finished')).toEqual(ids.slice(0, 240));
      for (const id of [second, first]) await kit.cancel(id);
      await kit.rest();
      expect((await kit.stats()).counts.finished).toBe(0);
    },
  ),
};

/** What falls together in time goes by arrival; ids, whose bytes are the other way round here, never count. */
export const ties: Cases = { ...waiting, ...notified, ...ending, ...readers };
