/** Leases that end without an outcome: given back, kept apart, and in the end a dead letter. */

import { LIMITS } from '../../domain/limits.ts';
import type { Leased } from '../../domain/port/backend.ts';
import type { Cases } from '../cases.ts';
import { type Kit, LEASE_MS } from '../kit.ts';

/** Longest wait after a second loss, in ms: the backoff and its jitter. */
const PARTED_MS = LIMITS.lostBackoffMs + 1_000;

/** Loses `losses` leases of the one task that is there. */
async function lose(kit: Kit, losses: number): Promise<void> {
  for (let loss = 1; loss <= losses; loss++) {
    await kit.leaseOne();
    await kit.advance(LEASE_MS + 1);
    if (loss === 2) await kit.advance(PARTED_MS);
  }
}

/** What the first, second and third loss of one task lead to. */
export const losses: Cases = {
  'the first loss puts a task back to its place': async (kit, expect) => {
    const [id, next] = await kit.addMany(2);
    await kit.leaseOne();
    await kit.advance(LEASE_MS - 1);
    expect(await kit.state(id ?? '')).toBe('started');
    await kit.advance(1);
    expect(await kit.record(id ?? '')).toMatchObject({ state: 'queued', losses: 1, failures: 0 });
    const [first, second] = await kit.lease(2);
    expect(first).toMatchObject({ id, attempt: 1, losses: 1, alone: false });
    expect(second?.id).toBe(next);
  },

  'the second loss lets it wait between 5 and 6 s': async (kit, expect) => {
    const id = await kit.add();
    await kit.leaseOne();
    await kit.advance(LEASE_MS + 1);
    await kit.leaseOne();
    await kit.advance(LEASE_MS + 1);
    const record = await kit.record(id);
    expect(record).toMatchObject({ state: 'scheduled', losses: 2 });
    expect((record?.dueAt ?? 0) - kit.now()).toBeGreaterThanOrEqual(LIMITS.lostBackoffMs - 1_000);
    expect((record?.dueAt ?? 0) - kit.now()).toBeLessThanOrEqual(PARTED_MS);
    await kit.advance(PARTED_MS);
    expect(await kit.leaseOne()).toMatchObject({ id, losses: 2, alone: true });
  },

  // O12
  'the third loss is a dead letter, and its place is free': async (kit, expect) => {
    await kit.setUser('ann', { maxRunning: 1 });
    const id = await kit.add();
    await lose(kit, 2);
    const next = await kit.add();
    expect(await kit.leaseOne()).toMatchObject({ id, alone: true });
    expect(await kit.lease()).toEqual([]);
    await kit.advance(LEASE_MS + 1);
    expect(await kit.record(id)).toMatchObject({
      state: 'failed',
      cause: { type: 'lost', leases: 3 },
      losses: 3,
    });
    expect(await kit.leaseIds()).toEqual([next]);
  },

  // O70
  'losses are no failed attempts': async (kit, expect) => {
    await kit.add();
    await lose(kit, 1);
    const leased = await kit.leaseOne();
    expect(leased).toMatchObject({ attempt: 1, losses: 1 });
    await kit.retry(leased, 0);
    expect(await kit.leaseOne()).toMatchObject({ attempt: 2, losses: 1 });
  },

  'gives a last chance alone: nothing with it, and nothing instead of it': async (kit, expect) => {
    const id = await kit.add();
    await lose(kit, 2);
    await kit.addMany(3, { level: 6 });
    await kit.add();
    const first = await kit.leaseReply({ limit: 10 });
    expect(first.leases).toHaveLength(3);
    expect(first.more).toBe(true);
    const second = await kit.lease(10);
    expect(second).toHaveLength(1);
    expect(second[0]).toMatchObject({ id, alone: true });
    expect(await kit.lease(10)).toHaveLength(1);
  },

  // O24
  'takes an ended lease back once, however many sweep at the same time': async (kit, expect) => {
    const id = await kit.add();
    await kit.leaseOne({ leaseMs: 1_000 });
    await kit.shift(1_001);
    await Promise.all(Array.from({ length: 10 }, () => kit.backend.tasks.tick()));
    expect(await kit.record(id)).toMatchObject({ state: 'queued', losses: 1 });
    expect((await kit.stats()).totals.lost).toBe(1);
    expect(await kit.backend.inspect.attempts(id)).toHaveLength(1);
  },

  // O41
  'a lost task is leased again or dead, never only told of': async (kit, expect) => {
    const id = await kit.add();
    for (let loss = 1; loss <= 3; loss++) {
      expect(await kit.leaseIds()).toEqual([id]);
      await kit.advance(LEASE_MS + 1);
      const outcomes = (await kit.backend.inspect.attempts(id)).map(({ outcome }) => outcome);
      expect(outcomes).toEqual(Array.from({ length: loss }, () => 'lost'));
      await kit.advance(PARTED_MS);
    }
    expect(await kit.state(id)).toBe('failed');
  },

  'ends a task as canceled whose cancel was asked for before its lease was lost': async (
    kit,
    expect,
  ) => {
    const id = await kit.add();
    await kit.leaseOne();
    await kit.cancel(id, 'enough');
    await kit.advance(LEASE_MS + 1);
    expect(await kit.record(id)).toMatchObject({
      state: 'canceled',
      cause: { type: 'request', reason: 'enough' },
    });
  },

  // O10
  'happens in every lease, without any tick': async (kit, expect) => {
    const id = await kit.add();
    await kit.leaseOne({ leaseMs: 1_000 });
    await kit.shift(1_001);
    expect(await kit.leaseIds(1, { worker: 'other' })).toEqual([id]);
  },

  // O11
  'says when the next lease ends, so that a worker wakes for it': async (kit, expect) => {
    await kit.add();
    const { leaseUntil } = await kit.leaseOne();
    expect((await kit.leaseReply({ worker: 'idle', wait: true })).nextDueAt).toBe(leaseUntil);
    expect((await kit.backend.tasks.tick()).nextDueAt).toBe(leaseUntil);
  },
};

/** Many leases lost at a time, and what tells the poison from those beside it. */
export const fleets: Cases = {
  // O40
  'parts one poison task from nine innocents that died with it': async (kit, expect) => {
    const ids = await kit.addMany(10);
    const poison = ids[4];
    for (let death = 1; death <= 2; death++) {
      expect(await kit.leaseIds(10)).toHaveLength(10);
      await kit.advance(LEASE_MS + 1);
    }
    await kit.advance(PARTED_MS);
    for (let i = 0; i < 10; i++) {
      const [leased, ...others] = await kit.lease(10);
      expect([leased?.alone, others]).toEqual([true, []]);
      if (leased !== undefined && leased.id !== poison) await kit.finish(leased);
    }
    await kit.advance(LEASE_MS + 1);
    expect((await kit.stats()).counts).toMatchObject({ finished: 9, failed: 1 });
    expect(await kit.record(poison ?? '')).toMatchObject({
      state: 'failed',
      cause: { type: 'lost' },
    });
  },

  // O26
  'finds a dead lease behind 2,000 long ones': async (kit, expect) => {
    await kit.addMany(2_000, { user: 'bob' });
    await kit.leaseMany(2_000, { leaseMs: LIMITS.leaseMaxMs });
    const id = await kit.add();
    await kit.leaseOne({ leaseMs: 1_000 });
    await kit.shift(1_001);
    await kit.backend.tasks.tick();
    expect(await kit.state(id)).toBe('queued');
  },

  // O21
  'takes 5,000 ended leases back in bounded steps': async (kit, expect) => {
    await kit.addMany(5_000);
    const leases = await kit.leaseMany(5_000);
    expect(leases).toHaveLength(5_000);
    await kit.shift(4_000);
    await kit.rest();
    await kit.advance(LEASE_MS - 4_000 - 1);
    await kit.shift(1);
    const { more } = await kit.backend.tasks.tick();
    expect(more).toBe(true);
    expect((await kit.stats()).counts.started).toBeGreaterThan(4_000);
    await kit.rest();
    expect((await kit.stats()).counts).toMatchObject({ started: 0, queued: 5_000 });
    expect((await kit.lease(1))[0]).toMatchObject({ id: leases[0]?.id, losses: 1 });
  },

  'all workers busy: what one lost is swept while the others extend': async (kit, expect) => {
    await kit.addMany(2);
    const dead = await kit.leaseOne({ worker: 'dead', leaseMs: 2_000 });
    const live = await kit.leaseOne({ worker: 'live' });
    await kit.shift(2_001);
    await kit.backend.tasks.extend({ worker: 'live', leaseMs: LEASE_MS, leases: [ref(live)] });
    expect(await kit.state(dead.id)).toBe('queued');
  },
};

function ref({ id, token }: Leased): { readonly id: string; readonly token: string } {
  return { id, token };
}

/** After a silence of the backend no lease is taken at once. */
export const outages: Cases = {
  'after 8 s without a step no lease is swept for 5 s': async (kit, expect) => {
    const id = await kit.add();
    const leased = await kit.leaseOne();
    await kit.shift(LEASE_MS + 60_000);
    await kit.rest();
    expect(await kit.state(id)).toBe('started');
    expect(await kit.lease(1, { worker: 'other' })).toEqual([]);
    const reply = await kit.backend.tasks.extend({
      worker: 'w',
      leaseMs: LEASE_MS,
      leases: [ref(leased)],
    });
    expect(reply.answers).toEqual(['ok']);
    await kit.advance(LIMITS.outagePauseMs + 1);
    expect(await kit.state(id)).toBe('started');
    await kit.finish(leased);
  },

  // O33
  'sweeps leases that were not extended once the pause is over': async (kit, expect) => {
    const id = await kit.add();
    await kit.leaseOne();
    await kit.shift(LEASE_MS + 60_000);
    await kit.rest();
    await kit.advance(LIMITS.outagePauseMs - 1);
    expect(await kit.state(id)).toBe('started');
    await kit.advance(1);
    expect(await kit.record(id)).toMatchObject({ state: 'queued', losses: 1 });
  },

  // F128
  'calls that come more rarely than every 8 s sweep all the same': async (kit, expect) => {
    const id = await kit.add();
    await kit.leaseOne();
    for (let passed = 0; passed < LEASE_MS + 18_000; passed += 9_000) {
      await kit.shift(9_000);
      await kit.backend.tasks.tick();
    }
    expect(await kit.record(id)).toMatchObject({ state: 'queued', losses: 1 });
  },

  'everything else goes on during the pause': async (kit, expect) => {
    await kit.add({ delayMs: 30_000 });
    const expiring = await kit.add({ user: 'bob', expiresInMs: 20_000 });
    await kit.shift(60_000);
    await kit.rest();
    expect(await kit.state(expiring)).toBe('failed');
    expect(await kit.lease()).toHaveLength(1);
  },

  'a busy backend never pauses': async (kit, expect) => {
    const id = await kit.add();
    await kit.leaseOne();
    for (let i = 0; i < 2; i++) {
      await kit.shift(7_900);
      await kit.backend.tasks.tick();
    }
    expect(await kit.state(id)).toBe('queued');
  },
};
