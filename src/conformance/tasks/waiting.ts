/** Waking: a worker that found nothing sleeps, and does not oversleep. */

import { LIMITS } from '../../domain/limits.ts';
import type { WorkNotice } from '../../domain/port/backend.ts';
import type { Cases } from '../cases.ts';
import type { Kit } from '../kit.ts';

interface Sleeper {
  readonly woken: Promise<WorkNotice>;
  abort(): void;
}

/** Leases nothing, and goes to sleep. */
async function sleeper(kit: Kit, worker = 'w', ms = 10_000): Promise<Sleeper> {
  const { leases } = await kit.leaseReply({ worker, wait: true });
  kit.expect(leases).toEqual([]);
  const controller = new AbortController();
  const woken = kit.backend.workers.waitForWork(worker, ms, controller.signal);
  return { woken, abort: () => controller.abort() };
}

/** Workers that found nothing, and what wakes them. */
export const workers: Cases = {
  'wakes a worker when work comes': async (kit, expect) => {
    const { woken } = await sleeper(kit);
    const id = await kit.add();
    expect(await woken).toBe('woken');
    expect(await kit.leaseIds()).toEqual([id]);
  },

  'does not lose a wake-up that comes before the sleep': async (kit, expect) => {
    await kit.leaseReply({ wait: true });
    await kit.add();
    const { signal } = new AbortController();
    expect(await kit.backend.workers.waitForWork('w', 10_000, signal)).toBe('woken');
  },

  'wakes when a place, a pause or a dependency frees work': async (kit, expect) => {
    await kit.setUser('ann', { maxRunning: 1 });
    const [first] = await kit.addMany(2);
    const leased = await kit.leaseOne({ worker: 'other' });
    expect(leased.id).toBe(first);
    const place = await sleeper(kit);
    await kit.finish(leased);
    expect(await place.woken).toBe('woken');
    await kit.serve(1);

    await kit.setUser('ann', { paused: true });
    const upstream = await kit.add();
    const pause = await sleeper(kit);
    await kit.setUser('ann', { paused: false });
    expect(await pause.woken).toBe('woken');

    const running = await kit.leaseOne({ worker: 'other' });
    const below = await kit.add({ user: 'bob', dependsOn: [upstream], edges: CROSS });
    const dependency = await sleeper(kit);
    await kit.finish(running);
    expect(await dependency.woken).toBe('woken');
    expect(await kit.leaseIds()).toEqual([below]);
  },

  'wakes for work that the lease has set free itself': async (kit, expect) => {
    const member = await kit.add({ owner: 'nobody' });
    const edges = { ...CROSS, onCancel: 'run' } as const;
    const after = await kit.add({ dependsOn: [member], edges });
    const { woken } = await sleeper(kit);
    expect(await woken).toBe('woken');
    expect(await kit.leaseIds()).toEqual([after]);
  },

  'wakes for a retry at once, a release, a queue that goes on': async (kit, expect) => {
    await kit.add();
    for (const way of ['retry', 'release', 'queue'] as const) {
      if (way === 'queue') await kit.setQueue({ paused: true });
      const leased = way === 'queue' ? undefined : await kit.leaseOne({ worker: 'other' });
      const { woken } = await sleeper(kit);
      if (leased !== undefined && way === 'retry') await kit.retry(leased, 0);
      if (leased !== undefined && way === 'release') await kit.release(leased);
      if (way === 'queue') await kit.setQueue({ paused: false });
      expect([way, await woken]).toEqual([way, 'woken']);
    }
  },

  'wakes one of three for one task, and all for three': async (kit, expect) => {
    const sleepers = [await sleeper(kit, 'w1'), await sleeper(kit, 'w2'), await sleeper(kit, 'w3')];
    await kit.add();
    await Promise.race(sleepers.map(({ woken }) => woken));
    for (const { abort } of sleepers) abort();
    const answers = await Promise.all(sleepers.map(({ woken }) => woken));
    expect(answers.filter((answer) => answer === 'woken')).toHaveLength(1);
    await kit.serve(1);

    const again = [await sleeper(kit, 'w1'), await sleeper(kit, 'w2'), await sleeper(kit, 'w3')];
    await kit.addMany(3);
    const all = await Promise.all(again.map(({ woken }) => woken));
    expect(all).toEqual(['woken', 'woken', 'woken']);
  },

  'wakes a worker that may serve the user': async (kit, expect) => {
    await kit.worker('a', { assignedUsers: ['ann'] });
    await kit.worker('b', { assignedUsers: ['bob'] });
    const a = await sleeper(kit, 'a');
    const b = await sleeper(kit, 'b');
    await kit.add({ user: 'bob' });
    expect(await b.woken).toBe('woken');
    a.abort();
    expect(await a.woken).toBe('timeout');
  },

  'wakes a worker of the queue': async (kit, expect) => {
    const { leases } = await kit.leaseReply({
      worker: 'bulk',
      wait: true,
      queues: [{ queue: 'bulk', weight: 1, pass: 0 }],
    });
    expect(leases).toEqual([]);
    const { signal } = new AbortController();
    const bulk = kit.backend.workers.waitForWork('bulk', 10_000, signal);
    const other = await sleeper(kit);
    await kit.add({ queue: 'bulk' });
    expect(await bulk).toBe('woken');
    other.abort();
    expect(await other.woken).toBe('timeout');
  },

  'a lease that leaves work behind wakes one more': async (kit, expect) => {
    const first = await sleeper(kit, 'w1');
    await kit.add();
    expect(await first.woken).toBe('woken');
    const second = await sleeper2(kit);
    await kit.addMany(2);
    expect(await second.woken).toBe('woken');
  },

  // O80
  'wakes for a task that is due sooner than what it sleeps for': async (kit, expect) => {
    await kit.add({ delayMs: 3_600_000 });
    const { woken } = await sleeper(kit, 'w', LIMITS.floorMs);
    const id = await kit.add({ delayMs: 1_000 });
    await kit.shift(1_000);
    expect(await woken).toBe('woken');
    expect(await kit.leaseIds()).toEqual([id]);
  },

  'wakes for dependents that a settle had no room to tell': async (kit, expect) => {
    const upstream = await kit.add();
    const joins = await kit.addMany(250, { join: true, dependsOn: [upstream] });
    const leased = await kit.leaseOne({ worker: 'other' });
    const { woken } = await sleeper(kit, 'w', 60_000);
    await kit.finish(leased);
    await kit.shift(1);
    expect(await woken).toBe('woken');
    for (let more = true; more; ) more = (await kit.leaseReply()).more;
    expect(new Set(await kit.states(joins))).toEqual(new Set(['finished']));
  },

  'answers after the time it was given': async (kit, expect) => {
    const { woken } = await sleeper(kit, 'w', 50);
    await kit.shift(50);
    expect(await woken).toBe('timeout');
  },

  'answers when it is told to stop, also when that was before': async (kit, expect) => {
    const { woken, abort } = await sleeper(kit, 'w', 60_000);
    abort();
    expect(await woken).toBe('timeout');
    const stopped = AbortSignal.abort();
    expect(await kit.backend.workers.waitForWork('w', 60_000, stopped)).toBe('timeout');
  },

  'close answers every wait': async (kit, expect) => {
    const { woken } = await sleeper(kit, 'w', 60_000);
    const id = await kit.add({ delayMs: 60_000 });
    const { signal } = new AbortController();
    const ended = kit.backend.inspect.waitForEnd(id, 60_000, signal);
    await kit.close();
    await ended;
    expect(['woken', 'timeout']).toContain(await woken);
  },
};

const CROSS = {
  onFailure: 'wait',
  onCancel: 'cancel',
  onMissing: 'refuse',
  allowCrossUser: true,
} as const;

/** The one task of the first sleeper is leased; another worker goes to sleep. */
async function sleeper2(kit: Kit): Promise<Sleeper> {
  kit.expect(await kit.lease(1, { worker: 'w1' })).toHaveLength(1);
  return sleeper(kit, 'w2');
}

/** Callers that wait for the end of a task. */
export const ends: Cases = {
  'a wait for the end answers at each kind of end': async (kit, expect) => {
    for (const end of ['finish', 'fail', 'cancel', 'expire'] as const) {
      const id = await kit.add(end === 'expire' ? { expiresInMs: 1_000 } : {});
      const { signal } = new AbortController();
      const ended = kit.backend.inspect.waitForEnd(id, 10_000, signal);
      if (end === 'finish') await kit.finish(await kit.leaseOne());
      if (end === 'fail') await kit.fail(await kit.leaseOne());
      if (end === 'cancel') await kit.cancel(id);
      if (end === 'expire') await kit.advance(1_000);
      const [status] = await kit.backend.inspect.status([id]);
      expect(await ended).toEqual(status);
      expect(['finished', 'failed', 'canceled']).toContain(status?.state);
    }
  },

  'answers at once for what has ended or is not there': async (kit, expect) => {
    const id = await kit.add();
    await kit.runToEnd(id);
    const failed = await kit.add();
    await kit.fail(await kit.leaseOne());
    const { signal } = new AbortController();
    const { inspect } = kit.backend;
    const [finish, fail] = await inspect.status([id, failed]);
    expect(await inspect.waitForEnd(id, 60_000, signal)).toEqual(finish);
    expect(await inspect.waitForEnd(failed, 60_000, signal)).toEqual(fail);
    expect(fail?.error ?? '').not.toBe('');
    expect(await inspect.waitForEnd('nowhere', 60_000, signal)).toBe(undefined);
  },

  'answers after its time, and when it is told to stop': async (kit, expect) => {
    const id = await kit.add();
    const { signal } = new AbortController();
    const timed = kit.backend.inspect.waitForEnd(id, 50, signal);
    await kit.shift(50);
    await timed;
    const controller = new AbortController();
    const stopped = kit.backend.inspect.waitForEnd(id, 60_000, controller.signal);
    controller.abort();
    await stopped;
    await kit.backend.inspect.waitForEnd(id, 60_000, AbortSignal.abort());
    expect(await kit.state(id)).toBe('queued');
  },

  'many may wait for one end': async (kit, expect) => {
    const id = await kit.add();
    const waits = Array.from({ length: 100 }, () =>
      kit.backend.inspect.waitForEnd(id, 10_000, new AbortController().signal),
    );
    await kit.runToEnd(id);
    const ended = await Promise.all(waits);
    expect(new Set(ended.map((one) => one?.state))).toEqual(new Set(['finished']));
  },

  'a wait for an end gets the whole outcome of a task, of any length': async (kit, expect) => {
    const { inspect } = kit.backend;
    for (const length of [0, 10, 4_000, 5_000, 100_000]) {
      const id = await kit.add();
      const result = JSON.stringify(`é\0${'x'.repeat(length)}`);
      const ended = inspect.waitForEnd(id, 10_000, new AbortController().signal);
      await kit.finish(await kit.leaseOne(), result);
      const status = (await ended) ?? (await inspect.status([id]))[0];
      expect(status).toEqual({ state: 'finished', result });
      const later = inspect.waitForEnd(id, 10_000, new AbortController().signal);
      expect((await later) ?? status).toEqual(status);
    }
  },

  'one call settles tasks that are awaited, some of which others depend on': async (
    kit,
    expect,
  ) => {
    await kit.worker('w');
    const ids: string[] = [];
    for (let at = 0; at < 4; at++) ids.push(await kit.add());
    const dependent = await kit.add({ dependsOn: [ids[1] ?? ''] });
    const { signal } = new AbortController();
    const waits = [...ids.slice(0, 3), dependent].map((id) =>
      kit.backend.inspect.waitForEnd(id, 10_000, signal),
    );
    const leased = await kit.lease(4, { worker: 'w' });
    // Of these the lease does not know.
    const later = [
      await kit.add({ dependsOn: ids.slice(0, 1) }),
      await kit.add({ dependsOn: ids.slice(2, 3) }),
    ];
    const settlements = leased.map(({ id, token }) => {
      return { id, token, decision: { type: 'finish', result: JSON.stringify(id) } as const };
    });
    await kit.backend.tasks.settle({ worker: 'w', settlements });
    for (const [at, id] of ids.slice(0, 3).entries()) {
      expect(await waits[at]).toEqual({ state: 'finished', result: JSON.stringify(id) });
    }
    const next = await kit.lease(4, { worker: 'w' });
    expect(next.map(({ id }) => id)).toEqual([later[0], dependent, later[1]]);
    for (const one of next) await kit.finish(one);
    expect(await waits[3]).toMatchObject({ state: 'finished' });
    expect((await kit.backend.inspect.reconcile({ repair: false })).drift).toEqual([]);
  },

  'a task that is put back is awaited anew': async (kit, expect) => {
    const { inspect, tasks } = kit.backend;
    const { signal } = new AbortController();
    const id = await kit.add();
    const failed = inspect.waitForEnd(id, 10_000, signal);
    await kit.fail(await kit.leaseOne());
    expect(await failed).toMatchObject({ state: 'failed' });
    await tasks.redrive(id);
    const finished = inspect.waitForEnd(id, 10_000, signal);
    await kit.finish(await kit.leaseOne());
    expect(await finished).toMatchObject({ state: 'finished' });
  },
};
