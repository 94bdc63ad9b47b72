/** Leases: one holder at a time, tokens that only rise, lost replies, extending. */
import type { Leased, LeaseRef } from '../../domain/port/backend.ts';
import type { Cases } from '../cases.ts';
import { type Kit, LEASE_MS } from '../kit.ts';

function serial(leased: Pick<Leased, 'token'>): number {
  return Number.parseInt(leased.token, 10);
}

function refs(leases: readonly LeaseRef[]): readonly LeaseRef[] {
  return leases.map(({ id, token }) => ({ id, token }));
}

function extend(
  kit: Kit,
  leases: readonly LeaseRef[],
  leaseMs = LEASE_MS,
): ReturnType<Kit['backend']['tasks']['extend']> {
  return kit.backend.tasks.extend({ worker: 'w', leaseMs, leases: refs(leases) });
}

/** Who is given what, and what is told with it. */
export const leasing: Cases = {
  'gives a task to one of many that ask at once': async (kit, expect) => {
    const ids = await kit.addMany(5);
    for (let i = 0; i < 20; i++) await kit.worker(`w${i}`);
    const asked = Array.from({ length: 20 }, (_, i) => kit.leaseIds(1, { worker: `w${i}` }));
    const given = (await Promise.all(asked)).flat();
    expect(given.toSorted()).toEqual(ids);
  },

  'says everything a worker needs': async (kit, expect) => {
    const createdAt = kit.now();
    const id = await kit.add({ user: 'bob', level: 4, payload: '[1]', options: '{"a":2}' });
    await kit.advance(500);
    const request = kit.request({ leaseMs: 20_000 });
    await kit.worker('w');
    const { leases, now } = await kit.backend.tasks.lease(request);
    expect(now).toBe(kit.now());
    expect(leases).toMatchObject([
      {
        id,
        token: leases[0]?.token,
        attempt: 1,
        losses: 0,
        leaseUntil: kit.now() + 20_000,
        leasedAt: kit.now(),
        createdAt,
        name: 'work',
        queue: 'default',
        user: 'bob',
        level: 4,
        payload: '[1]',
        options: '{"a":2}',
        releases: 0,
        alone: false,
        upstreams: [],
      },
    ]);
    expect(leases[0]?.token).toMatch(new RegExp(`^\\d+-${request.requestId}$`));
    expect(await kit.record(id)).toMatchObject({
      state: 'started',
      token: leases[0]?.token,
      worker: 'w',
      leasedAt: kit.now(),
      leaseUntil: kit.now() + 20_000,
    });
  },

  'gives no more than was asked for': async (kit, expect) => {
    await kit.addMany(100);
    expect(await kit.lease(1)).toHaveLength(1);
    expect(await kit.lease(62)).toHaveLength(62);
    expect(await kit.lease(62)).toHaveLength(37);
    expect(await kit.lease(62)).toHaveLength(0);
  },

  'says that there is nothing, and when there will be': async (kit, expect) => {
    const empty = await kit.leaseReply();
    expect(empty).toMatchObject({ leases: [], more: false });
    expect(empty.nextDueAt).toBeUndefined();
    expect(empty.waitMs).toBeGreaterThan(0);
    await kit.add({ delayMs: 700 });
    await kit.add({ delayMs: 900 });
    const { nextDueAt, waitMs } = await kit.leaseReply({ wait: true });
    expect(nextDueAt).toBe(kit.now() + 700);
    expect(waitMs).toBeLessThanOrEqual(700);
  },

  // O8
  'answers a request that is sent again with the same leases': async (kit, expect) => {
    await kit.addMany(10);
    const request = kit.request({ limit: 4 });
    await kit.worker('w');
    const first = await kit.backend.tasks.lease(request);
    const again = await kit.backend.tasks.lease(request);
    expect(again.leases).toEqual(first.leases);
    expect((await kit.stats()).counts).toMatchObject({ started: 4, queued: 6 });
    expect(await kit.lease(10)).toHaveLength(6);
  },

  // O8
  'answers a settle that is sent again with the same leases': async (kit, expect) => {
    await kit.addMany(5);
    const { id, token } = await kit.leaseOne();
    const request = {
      worker: 'w',
      settlements: [{ id, token, decision: { type: 'finish', result: '1' } as const }],
      lease: kit.request({ limit: 2 }),
    };
    const first = await kit.backend.tasks.settle(request);
    const again = await kit.backend.tasks.settle(request);
    expect(again.answers).toEqual([{ kind: 'ok', state: 'finished', repeated: true }]);
    expect(again.lease?.leases).toEqual(first.lease?.leases);
    expect((await kit.stats()).counts).toMatchObject({ started: 2, queued: 2 });
  },

  'a request that is sent again gives nothing that was lost meanwhile': async (kit, expect) => {
    const [id, other] = await kit.addMany(2);
    const request = kit.request({ limit: 2, leaseMs: 1_000 });
    await kit.worker('w');
    const { leases } = await kit.backend.tasks.lease(request);
    const kept = leases.filter((leased) => leased.id === other);
    await extend(kit, kept);
    await kit.advance(1_001);
    expect(await kit.leaseIds(5, { worker: 'other' })).toEqual([id]);
    const again = await kit.backend.tasks.lease(request);
    expect(again.leases.map((leased) => leased.id)).toEqual([other]);
  },

  // O23
  'a lease begins when it is given: two workers with one slot run each task once': async (
    kit,
    expect,
  ) => {
    await kit.addMany(12);
    const started: string[] = [];
    for (let round = 0; round < 6; round++) {
      const pair = [
        await kit.leaseOne({ worker: 'w1', leaseMs: 1_000 }),
        await kit.leaseOne({ worker: 'w2', leaseMs: 1_000 }),
      ];
      await kit.advance(600);
      for (const leased of pair) {
        started.push(leased.id);
        expect(await kit.finish(leased)).toMatchObject({ kind: 'ok', repeated: false });
      }
    }
    expect(new Set(started).size).toBe(12);
    expect((await kit.stats()).totals.lost).toBe(0);
  },

  // O38
  'many that ask at once never give a user more than it may have': async (kit, expect) => {
    await kit.setQueue({ perUser: { maxRunning: 1 } });
    for (let user = 0; user < 20; user++) await kit.addMany(10, { user: `u${user}` });
    const workers = Array.from({ length: 8 }, (_, i) => `w${i}`);
    for (const worker of workers) await kit.worker(worker);
    for (let finished = 0; finished < 200; ) {
      const asked = workers.map((worker) => kit.lease(5, { worker }));
      const leases = (await Promise.all(asked)).flat();
      expect(new Set(leases.map(({ user }) => user)).size).toBe(leases.length);
      expect(leases.length).toBeGreaterThan(0);
      await Promise.all(leases.map((leased) => kit.finish(leased)));
      finished += leases.length;
    }
    expect((await kit.stats()).counts).toMatchObject({ finished: 200, queued: 0 });
  },

  // O8
  'gives back what was leased by a reply that never arrived': async (kit, expect) => {
    const ids = await kit.addMany(3);
    await kit.lease(3);
    await kit.advance(LEASE_MS - 1);
    expect(await kit.lease(3)).toEqual([]);
    await kit.advance(1);
    expect(await kit.leaseIds(3)).toEqual(ids);
  },

  'a token that is not the one of the lease settles nothing': async (kit, expect) => {
    await kit.addMany(2);
    const [one, two] = await kit.lease(2, { requestId: 'request1' });
    if (one === undefined || two === undefined) throw new Error('two were added');
    const foreign = one.token.replace('request1', 'request2');
    expect(await kit.finish({ id: one.id, token: foreign })).toEqual({ kind: 'leaseLost' });
    const decision = { type: 'finish', result: 'null' } as const;
    const { answers } = await kit.backend.tasks.settle({
      worker: 'w',
      settlements: [
        { id: one.id, token: foreign, decision },
        { id: two.id, token: two.token, decision },
      ],
    });
    expect(answers).toEqual([
      { kind: 'leaseLost' },
      { kind: 'ok', state: 'finished', repeated: false },
    ]);
    expect(await kit.states([one.id, two.id])).toEqual(['started', 'finished']);
  },

  'tokens of a task only rise, also when the clock goes back': async (kit, expect) => {
    await kit.add();
    const serials: number[] = [];
    for (const step of [0, 1, -3, 5, -3_600_000, 1_000, 0]) {
      await kit.shift(step);
      const leased = await kit.leaseOne();
      serials.push(serial(leased));
      await kit.retry(leased, 0);
    }
    expect(serials).toEqual([...new Set(serials)].toSorted((a, b) => a - b));
  },

  'counts attempts from 1, one more after each failure': async (kit, expect) => {
    await kit.add();
    const attempts: number[] = [];
    for (let i = 0; i < 5; i++) {
      const leased = await kit.leaseOne();
      attempts.push(leased.attempt);
      await kit.retry(leased, 0);
    }
    expect(attempts).toEqual([1, 2, 3, 4, 5]);
  },

  'leases in the same step as it settles': async (kit, expect) => {
    const [first, second] = await kit.addMany(2);
    const leased = await kit.leaseOne();
    const reply = await kit.backend.tasks.settle({
      worker: 'w',
      settlements: [
        { id: leased.id, token: leased.token, decision: { type: 'finish', result: '1' } },
      ],
      lease: kit.request({ limit: 5 }),
    });
    expect(reply.answers).toEqual([{ kind: 'ok', state: 'finished', repeated: false }]);
    expect(reply.lease?.leases.map(({ id }) => id)).toEqual([second]);
    expect(await kit.states([first ?? ''])).toEqual(['finished']);
  },

  'frees the place of a settled task for the lease in the same step': async (kit, expect) => {
    await kit.setUser('ann', { maxRunning: 1 });
    await kit.addMany(2);
    const leased = await kit.leaseOne();
    const reply = await kit.backend.tasks.settle({
      worker: 'w',
      settlements: [
        { id: leased.id, token: leased.token, decision: { type: 'finish', result: '1' } },
      ],
      lease: kit.request({ limit: 5 }),
    });
    expect(reply.lease?.leases).toHaveLength(1);
  },
};

/** Leases that are held longer than they were given for. */
export const extending: Cases = {
  'moves the end of a lease on': async (kit, expect) => {
    await kit.addMany(2);
    const leases = await kit.lease(2);
    for (let i = 0; i < 6; i++) {
      await kit.advance(5_000);
      expect(await extend(kit, leases)).toEqual({
        answers: ['ok', 'ok'],
        unknown: [],
        now: kit.now(),
        schedulesDue: false,
      });
    }
    const { leaseUntil } = (await kit.record(leases[0]?.id ?? '')) ?? {};
    expect(leaseUntil).toBe(kit.now() + LEASE_MS);
    expect((await kit.stats()).totals.lost).toBe(0);
  },

  // O35
  'leaves the token as it is, so that a settle may cross it': async (kit, expect) => {
    for (let round = 0; round < 50; round++) {
      await kit.add();
      const leased = await kit.leaseOne();
      const [, settled] = await Promise.all([extend(kit, [leased]), kit.finish(leased)]);
      expect(settled).toMatchObject({ kind: 'ok', repeated: false });
    }
  },

  'is accepted past the end while no sweep has come': async (kit, expect) => {
    await kit.add();
    const leased = await kit.leaseOne({ leaseMs: 1_000 });
    await kit.shift(4_000);
    expect((await extend(kit, [leased])).answers).toEqual(['ok']);
    expect((await kit.record(leased.id))?.leaseUntil).toBe(kit.now() + LEASE_MS);
    expect(await kit.finish(leased)).toMatchObject({ kind: 'ok', state: 'finished' });
  },

  'says which leases are lost: swept, ended, or of an unknown task': async (kit, expect) => {
    const ids = await kit.addMany(2);
    const [swept, ended] = await kit.lease(2);
    if (swept === undefined || ended === undefined) throw new TypeError('two leases');
    await kit.finish(ended);
    await kit.advance(LEASE_MS + 1);
    const unknown = { id: 'nowhere', token: '1-aaaaaaaa' };
    const stale = { id: ids[0] ?? '', token: '1-aaaaaaaa' };
    expect((await extend(kit, [swept, ended, unknown, stale])).answers).toEqual([
      'lost',
      'lost',
      'lost',
      'lost',
    ]);
  },

  // O77
  'says which tasks are to be canceled, and still extends them': async (kit, expect) => {
    await kit.addMany(2);
    const [one, other] = await kit.lease(2);
    if (one === undefined || other === undefined) throw new TypeError('two leases');
    await kit.cancel(other.id);
    await kit.advance(5_000);
    expect((await extend(kit, [one, other])).answers).toEqual(['ok', 'canceling']);
    expect((await kit.record(other.id))?.leaseUntil).toBe(kit.now() + LEASE_MS);
  },

  'names the leases of the latest request that the worker does not know': async (kit, expect) => {
    await kit.addMany(3);
    const leases = await kit.lease(3);
    const { unknown } = await extend(kit, leases.slice(0, 1));
    expect(new Set(refs(unknown))).toEqual(new Set(refs(leases.slice(1))));
    for (const each of leases) await kit.finish(each);
    expect((await extend(kit, [])).unknown).toEqual([]);
  },

  // O9
  'keeps a task that lives with its worker for minutes, while others tick': async (kit, expect) => {
    await kit.add();
    const leased = await kit.leaseOne();
    for (let i = 0; i < 36; i++) {
      await kit.advance(5_000);
      await extend(kit, [leased]);
      expect(await kit.lease(1, { worker: 'other' })).toEqual([]);
    }
    expect(await kit.finish(leased)).toMatchObject({ kind: 'ok', state: 'finished' });
  },
};
