/** Delays, expiry, and clocks that jump. */
import { LIMITS } from '../../domain/limits.ts';
import type { Cases } from '../cases.ts';
import { LEASE_MS, REFUSING_EDGES } from '../kit.ts';

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;

/** Tasks that wait for a moment, however far away. */
export const delays: Cases = {
  'starts nothing before its time, and everything at it': async (kit, expect) => {
    const id = await kit.add({ delayMs: 1_000 });
    await kit.shift(999);
    expect(await kit.lease()).toEqual([]);
    await kit.shift(1);
    expect(await kit.leaseIds()).toEqual([id]);
  },

  // O79
  'waits 25 days, 60 days and ten years': async (kit, expect) => {
    const delays = [25 * DAY_MS, 60 * DAY_MS, LIMITS.delayMaxMs];
    const start = kit.now();
    for (const delayMs of delays) {
      const id = await kit.add({ executeAfter: start + delayMs });
      await kit.shift(start + delayMs - 1 - kit.now());
      await kit.rest();
      expect(await kit.state(id)).toBe('scheduled');
      expect((await kit.backend.tasks.tick()).nextDueAt).toBe(kit.now() + 1);
      await kit.shift(1);
      await kit.runToEnd(id);
    }
  },

  // O80
  'says when the nearest is due, also when that came later': async (kit, expect) => {
    await kit.add({ delayMs: 6 * HOUR_MS });
    expect((await kit.backend.tasks.tick()).nextDueAt).toBe(kit.now() + 6 * HOUR_MS);
    const id = await kit.add({ delayMs: 1_000 });
    expect((await kit.backend.tasks.tick()).nextDueAt).toBe(kit.now() + 1_000);
    await kit.advance(1_000);
    expect(await kit.leaseIds()).toEqual([id]);
  },

  // O81
  'finds what became due while no call was made': async (kit, expect) => {
    const ids = [await kit.add({ delayMs: 2_000 }), await kit.add({ delayMs: 60_000 })];
    await kit.shift(5 * HOUR_MS);
    expect(await kit.leaseIds(5)).toEqual(ids);
  },

  // O16
  'runs a task once whose delay is longer than ten leases': async (kit, expect) => {
    const id = await kit.add({ delayMs: 10 * LEASE_MS });
    await kit.advance(10 * LEASE_MS - 1);
    expect(await kit.lease()).toEqual([]);
    await kit.advance(1);
    await kit.runToEnd(id);
    await kit.advance(5_000);
    expect(await kit.lease()).toEqual([]);
    expect((await kit.stats()).totals).toMatchObject({ finished: 1, lost: 0 });
  },

  // O19
  'moves a due task once, however many tick at the same time': async (kit, expect) => {
    const id = await kit.add({ delayMs: 1_000 });
    await kit.shift(1_000);
    await Promise.all(Array.from({ length: 20 }, () => kit.backend.tasks.tick()));
    expect(await kit.user('ann')).toMatchObject({ queued: 1, later: 0 });
    expect(await kit.leaseIds(5)).toEqual([id]);
  },

  'goes round the users: a thousand due tasks of one delay no other user’s': async (
    kit,
    expect,
  ) => {
    await kit.addMany(1_000, { user: 'noisy', delayMs: 1_000 });
    const quiet = await kit.add({ user: 'quiet', delayMs: 1_500 });
    await kit.shift(2_000);
    const { more } = await kit.backend.tasks.tick();
    expect(more).toBe(true);
    expect(await kit.state(quiet)).toBe('queued');
    expect((await kit.user('noisy'))?.queued).toBeLessThanOrEqual(100);
  },

  'queues 10,000 that are due at once, in bounded steps': async (kit, expect) => {
    for (let user = 0; user < 10; user++) {
      await kit.addMany(1_000, { user: `u${user}`, delayMs: 1_000 });
    }
    await kit.shift(1_000);
    const ticks = await kit.rest();
    expect((await kit.stats()).counts).toMatchObject({ queued: 10_000, scheduled: 0 });
    expect(ticks).toBeGreaterThanOrEqual(99);
    expect(ticks).toBeLessThanOrEqual(120);
  },

  'promotes in order of the due time': async (kit, expect) => {
    const ids = [
      await kit.add({ delayMs: 3_000 }),
      await kit.add({ delayMs: 1_000 }),
      await kit.add({ delayMs: 2_000 }),
    ];
    await kit.shift(4_000);
    expect(await kit.leaseIds(5)).toEqual([ids[1], ids[2], ids[0]]);
  },
};

/** Tasks that have to start by a moment, or not at all. */
export const expiry: Cases = {
  'fails what has not started by then': async (kit, expect) => {
    const id = await kit.add({ expiresInMs: 10_000 });
    expect((await kit.record(id))?.expiresAt).toBe(kit.now() + 10_000);
    expect((await kit.backend.tasks.tick()).nextDueAt).toBe(kit.now() + 10_000);
    await kit.advance(9_999);
    expect(await kit.state(id)).toBe('queued');
    await kit.shift(1);
    expect(await kit.lease()).toEqual([]);
    expect(await kit.record(id)).toMatchObject({ state: 'failed', cause: { type: 'expired' } });
  },

  'counts from the due time of a delayed task': async (kit, expect) => {
    const id = await kit.add({ delayMs: 20_000, expiresInMs: 5_000 });
    expect((await kit.record(id))?.expiresAt).toBe(kit.now() + 25_000);
    await kit.setUser('ann', { paused: true });
    await kit.advance(24_000);
    expect(await kit.state(id)).toBe('queued');
    await kit.advance(1_000);
    expect(await kit.record(id)).toMatchObject({ state: 'failed', cause: { type: 'expired' } });
  },

  'is about the first start only': async (kit, expect) => {
    const id = await kit.add({ expiresInMs: 10_000 });
    await kit.retry(await kit.leaseOne(), 20_000);
    expect((await kit.record(id))?.expiresAt).toBeUndefined();
    await kit.advance(20_000);
    await kit.leaseOne();
    await kit.advance(LEASE_MS + 1);
    await kit.runToEnd(id);
    expect(await kit.state(id)).toBe('finished');
  },

  'reaches a blocked task, and its dependents': async (kit, expect) => {
    const upstream = await kit.add({ delayMs: HOUR_MS });
    const id = await kit.add({ dependsOn: [upstream], expiresInMs: 1_000 });
    const edges = { ...REFUSING_EDGES, onFailure: 'cancel' } as const;
    const below = await kit.add({ dependsOn: [id], edges });
    await kit.advance(1_000);
    expect(await kit.states([upstream, id, below])).toEqual(['scheduled', 'failed', 'canceled']);
  },

  'of 500 at once ends all, in bounded steps': async (kit, expect) => {
    await kit.addMany(500, { expiresInMs: 1_000 });
    await kit.shift(1_000);
    const { more } = await kit.backend.tasks.tick();
    expect(more).toBe(true);
    expect((await kit.stats()).counts.failed).toBeLessThanOrEqual(50);
    await kit.rest();
    expect((await kit.stats()).counts.failed).toBe(500);
  },
};

/** What happens to leases and moments when the clock jumps. */
export const clocks: Cases = {
  'a small step back is not followed': async (kit, expect) => {
    const { now } = await kit.backend.tasks.tick();
    await kit.shift(-4_000);
    expect((await kit.backend.tasks.tick()).now).toBe(now);
    await kit.shift(1_000);
    expect((await kit.backend.tasks.tick()).now).toBe(now);
    await kit.shift(4_000);
    expect((await kit.backend.tasks.tick()).now).toBe(now + 1_000);
  },

  'a large step back is taken': async (kit, expect) => {
    const { now } = await kit.backend.tasks.tick();
    await kit.shift(-HOUR_MS);
    expect((await kit.backend.tasks.tick()).now).toBe(now - HOUR_MS);
    const id = await kit.add({ delayMs: 1_000 });
    expect((await kit.record(id))?.dueAt).toBe(now - HOUR_MS + 1_000);
    await kit.advance(1_000);
    expect(await kit.leaseIds()).toEqual([id]);
  },

  'an hour ahead and back: leases end later, never earlier, and are swept': async (kit, expect) => {
    const [before, during] = await kit.addMany(2);
    await kit.leaseOne();
    await kit.shift(HOUR_MS);
    const ahead = await kit.leaseOne();
    expect(ahead.id).toBe(during);
    await kit.shift(-HOUR_MS);
    await kit.rest();
    expect(await kit.states([before ?? '', during ?? ''])).toEqual(['started', 'started']);
    await kit.advance(LEASE_MS + LIMITS.outagePauseMs + 1_000);
    expect(await kit.record(before ?? '')).toMatchObject({ state: 'queued', losses: 1 });
    expect(await kit.state(during ?? '')).toBe('started');
    const extended = await kit.backend.tasks.extend({
      worker: 'w',
      leaseMs: LEASE_MS,
      leases: [{ id: ahead.id, token: ahead.token }],
    });
    expect(extended.answers).toEqual(['ok']);
    expect((await kit.record(ahead.id))?.leaseUntil).toBe(kit.now() + LEASE_MS);
    expect(await kit.finish(ahead)).toMatchObject({ kind: 'ok', state: 'finished' });
  },

  'an hour ahead and back: a worker that died meanwhile does not live for an hour': async (
    kit,
    expect,
  ) => {
    await kit.worker('a', { assignedUsers: ['ann'], stealTargets: 'any' });
    await kit.shift(HOUR_MS);
    await kit.worker('b', { assignedUsers: ['bob'] });
    await kit.shift(-HOUR_MS);
    await kit.addMany(10, { user: 'ann' });
    const id = await kit.add({ user: 'bob' });
    await kit.advance(LIMITS.workerSilenceMs + 1);
    expect(await kit.leaseIds(2, { worker: 'a' })).toContain(id);
    expect((await kit.backend.workers.list()).map((worker) => worker.id)).toEqual(['a']);
  },
};
