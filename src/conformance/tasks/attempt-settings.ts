/** What a queue says of leases and attempts: told with each lease, as it stands then. */
import type { Leased, QueueShare } from '../../domain/port/backend.ts';
import type { Cases } from '../cases.ts';
import { type Kit, LEASE_MS } from '../kit.ts';

const BOTH: readonly QueueShare[] = [
  { queue: 'default', weight: 1, pass: 0 },
  { queue: 'bulk', weight: 1, pass: 0 },
];

function lengthOf({ leasedAt, leaseUntil }: Leased): number {
  return leaseUntil - leasedAt;
}

/** The lease of a task and its end on record, both from when it was given. */
async function lengthsOf(kit: Kit, leased: Leased): Promise<readonly number[]> {
  const record = await kit.record(leased.id);
  return [lengthOf(leased), (record?.leaseUntil ?? 0) - (record?.leasedAt ?? 0)];
}

/** How often a task of the queue is tried and how long it may run, as the queue says. */
export const attempts: Cases = {
  'are told with leases of its tasks, also of those that waited before': async (kit, expect) => {
    await kit.addMany(4);
    expect((await kit.leaseOne()).attemptSettings).toBeUndefined();
    await kit.setQueue({ retries: 5, timeoutMs: 30_000 });
    expect((await kit.leaseOne()).attemptSettings).toEqual({ retries: 5, timeoutMs: 30_000 });
    await kit.setQueue({ retries: 0, timeoutMs: null });
    expect((await kit.leaseOne()).attemptSettings).toEqual({ retries: 0 });
    await kit.setQueue({ retries: null, timeoutMs: 0 });
    expect((await kit.leaseOne()).attemptSettings).toEqual({ timeoutMs: 0 });
  },

  'are told anew with the next attempt': async (kit, expect) => {
    await kit.setQueue({ retries: 5 });
    const id = await kit.add();
    await kit.retry(await kit.leaseOne(), 0);
    await kit.setQueue({ retries: 9, maxRunning: 3 });
    expect(await kit.leaseOne()).toMatchObject({ id, attempt: 2, attemptSettings: { retries: 9 } });
  },

  'are told with leases that come with a settle': async (kit, expect) => {
    await kit.addMany(3);
    await kit.setQueue({ timeoutMs: 7_000 });
    const first = await kit.leaseOne();
    const { lease } = await kit.backend.tasks.settle({
      worker: 'w',
      settlements: [{ ...first, decision: { type: 'finish', result: '1' } }],
      lease: kit.request({ limit: 2 }),
    });
    expect(lease?.leases.map(({ attemptSettings }) => attemptSettings)).toEqual([
      { timeoutMs: 7_000 },
      { timeoutMs: 7_000 },
    ]);
  },

  'are those of its own queue': async (kit, expect) => {
    await kit.add({ id: 'a' });
    await kit.add({ id: 'b', queue: 'bulk' });
    await kit.setQueue({ retries: 1 }, 'bulk');
    const leases = await kit.lease(2, { queues: BOTH });
    const byId = Object.fromEntries(leases.map((leased) => [leased.id, leased.attemptSettings]));
    expect(byId).toEqual({ a: undefined, b: { retries: 1 } });
  },

  'are told again when a request is sent again': async (kit, expect) => {
    await kit.setQueue({ retries: 2, leaseMs: 4_000 });
    await kit.add();
    await kit.worker('w');
    const request = kit.request();
    const { leases } = await kit.backend.tasks.lease(request);
    await kit.shift(500);
    expect((await kit.backend.tasks.lease(request)).leases).toEqual(leases);
  },

  'stand among its settings': async (kit, expect) => {
    await kit.setQueue({ retries: 4, timeoutMs: 0, leaseMs: 86_400_000 });
    await kit.setQueue({ timeoutMs: 315_576_000_000, retries: null });
    expect((await kit.queue())?.settings).toEqual({
      timeoutMs: 315_576_000_000,
      leaseMs: 86_400_000,
    });
  },
};

/** How long a lease of the queue lasts. */
export const leases: Cases = {
  'last as long as their queue says, and not as the worker asks': async (kit, expect) => {
    await kit.addMany(3);
    const before = await kit.leaseOne();
    expect(await lengthsOf(kit, before)).toEqual([LEASE_MS, LEASE_MS]);
    await kit.setQueue({ leaseMs: 3_000 });
    expect(await lengthsOf(kit, await kit.leaseOne())).toEqual([3_000, 3_000]);
    expect(await lengthsOf(kit, before)).toEqual([LEASE_MS, LEASE_MS]);
    await kit.setQueue({ leaseMs: null });
    expect(await lengthsOf(kit, await kit.leaseOne())).toEqual([LEASE_MS, LEASE_MS]);
  },

  'of several queues have a length each in one reply': async (kit, expect) => {
    await kit.setQueue({ leaseMs: 60_000 }, 'bulk');
    await kit.add({ id: 'a' });
    await kit.add({ id: 'b', queue: 'bulk' });
    const given = await kit.lease(2, { queues: BOTH, leaseMs: 5_000 });
    const lengths = await Promise.all(
      given.map(async (leased) => [leased.id, ...(await lengthsOf(kit, leased))]),
    );
    expect(lengths.toSorted()).toEqual([
      ['a', 5_000, 5_000],
      ['b', 60_000, 60_000],
    ]);
  },

  'end by the length of their queue': async (kit, expect) => {
    await kit.setQueue({ leaseMs: 2_000 });
    const id = await kit.add();
    const leased = await kit.leaseOne();
    const { nextDueAt } = await kit.leaseReply();
    expect(nextDueAt).toBe(leased.leaseUntil);
    await kit.advance(1_999);
    expect(await kit.state(id)).toBe('started');
    await kit.advance(1);
    expect(await kit.state(id)).toBe('queued');
  },

  'are extended by what the worker asks for': async (kit, expect) => {
    await kit.setQueue({ leaseMs: 2_000 });
    const id = await kit.add();
    const { token } = await kit.leaseOne();
    await kit.shift(1_000);
    await kit.backend.tasks.extend({ worker: 'w', leaseMs: 2_500, leases: [{ id, token }] });
    expect((await kit.record(id))?.leaseUntil).toBe(kit.now() + 2_500);
  },
};
