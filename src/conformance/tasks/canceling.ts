/** Cancel: the first to arrive wins, once, and the answer says which. */
import type { Cases } from '../cases.ts';
import { LEASE_MS } from '../kit.ts';

/** What becomes of a task in each state that is canceled. */
export const cancels: Cases = {
  'ends what has not started, and says so': async (kit, expect) => {
    const upstream = await kit.add({ queue: 'bulk' });
    const ids = [
      await kit.add(),
      await kit.add({ delayMs: 1_000 }),
      await kit.add({ dependsOn: [upstream] }),
    ];
    for (const id of ids) {
      expect(await kit.cancel(id, 'no need')).toEqual({ kind: 'canceled' });
      expect(await kit.record(id)).toMatchObject({
        state: 'canceled',
        cause: { type: 'request', reason: 'no need' },
        endedAt: kit.now(),
      });
    }
    await kit.advance(2_000);
    expect(await kit.lease(10)).toEqual([]);
  },

  'asks the worker of a running task; after any answer the task ends as canceled': async (
    kit,
    expect,
  ) => {
    const ways = ['finish', 'fail', 'retry', 'release', 'lose'] as const;
    for (const way of ways) {
      const id = await kit.add();
      const leased = await kit.leaseOne({ worker: 'busy' });
      expect(await kit.cancel(id, 'enough')).toEqual({ kind: 'requested', worker: 'busy' });
      expect(await kit.record(id)).toMatchObject({ state: 'started', cancelRequested: true });
      if (way === 'finish') await kit.finish(leased);
      if (way === 'fail') await kit.fail(leased);
      if (way === 'retry') await kit.retry(leased, 0);
      if (way === 'release') await kit.release(leased);
      if (way === 'lose') await kit.advance(LEASE_MS + 1);
      expect([way, await kit.state(id)]).toEqual([way, 'canceled']);
      expect((await kit.record(id))?.cause).toEqual({ type: 'request', reason: 'enough' });
    }
  },

  'tells who settles a canceled task that it is canceled': async (kit, expect) => {
    const id = await kit.add();
    const leased = await kit.leaseOne();
    await kit.cancel(id);
    expect(await kit.finish(leased)).toEqual({ kind: 'ok', state: 'canceled', repeated: false });
    expect((await kit.record(id))?.result).toBeUndefined();
  },

  'may be asked twice': async (kit, expect) => {
    const id = await kit.add();
    const leased = await kit.leaseOne();
    expect(await kit.cancel(id)).toMatchObject({ kind: 'requested' });
    expect(await kit.cancel(id)).toMatchObject({ kind: 'requested' });
    await kit.finish(leased);
    expect(await kit.cancel(id)).toEqual({ kind: 'already-ended', state: 'canceled' });
    expect((await kit.stats()).totals.canceled).toBe(1);
  },

  'does not touch what has ended, and knows what is not there': async (kit, expect) => {
    const finished = await kit.add();
    await kit.runToEnd(finished);
    const failed = await kit.add();
    await kit.fail(await kit.leaseOne());
    expect(await kit.cancel(finished)).toEqual({ kind: 'already-ended', state: 'finished' });
    expect(await kit.cancel(failed)).toEqual({ kind: 'already-ended', state: 'failed' });
    expect(await kit.cancel('nowhere')).toEqual({ kind: 'not-found' });
  },

  // O76
  'of cancel, finish and fail at once one wins, and every answer agrees': async (kit, expect) => {
    for (let round = 0; round < 100; round++) {
      const id = await kit.add();
      const leased = await kit.leaseOne();
      const settle = round % 2 === 0 ? kit.finish(leased) : kit.fail(leased);
      const [canceled, settled] =
        round % 3 === 0
          ? (await Promise.all([settle, kit.cancel(id)])).toReversed()
          : await Promise.all([kit.cancel(id), settle]);
      const state = await kit.state(id);
      if (canceled?.kind === 'requested') expect(state).toBe('canceled');
      else expect(canceled).toEqual({ kind: 'already-ended', state });
      expect(settled).toEqual({ kind: 'ok', state, repeated: false });
    }
    const { finished, failed, canceled } = (await kit.stats()).totals;
    expect(finished + failed + canceled).toBe(100);
  },

  // O78
  'never cancels what a lease gives at the same time without asking its worker': async (
    kit,
    expect,
  ) => {
    for (let round = 0; round < 100; round++) {
      const id = await kit.add();
      const calls = [kit.leaseIds(), kit.cancel(id)] as const;
      const [leased, answer] = await Promise.all(calls);
      expect([round, answer.kind]).toEqual([round, leased.length === 1 ? 'requested' : 'canceled']);
      if (leased.length === 1) {
        const token = (await kit.record(id))?.token ?? '';
        await kit.finish({ id, token });
      }
      expect(await kit.state(id)).toBe('canceled');
    }
  },

  // O34
  'a canceled task leaves no gap in the line': async (kit, expect) => {
    const ids = await kit.addMany(5);
    await kit.cancel(ids[1] ?? '');
    await kit.cancel(ids[3] ?? '');
    expect(await kit.leaseIds(5)).toEqual([ids[0], ids[2], ids[4]]);
  },

  '1,000 canceled at once cost no user a turn': async (kit, expect) => {
    const ids = await kit.addMany(1_000);
    const last = await kit.add();
    await kit.add({ user: 'bob' });
    await Promise.all(ids.map((id) => kit.cancel(id)));
    expect(await kit.user('ann')).toMatchObject({ queued: 1 });
    expect((await kit.lease(2)).map(({ user }) => user).toSorted()).toEqual(['ann', 'bob']);
    expect(await kit.state(last)).toBe('started');
  },
};

/** A scheduled task that is to start now. */
export const early: Cases = {
  'runNow makes a scheduled task due': async (kit, expect) => {
    const id = await kit.add({ delayMs: 60_000 });
    expect(await kit.backend.tasks.runNow(id)).toEqual({ kind: 'ok', state: 'queued' });
    expect(await kit.leaseIds()).toEqual([id]);
  },

  'runNow of a blocked one defers it': async (kit, expect) => {
    const upstream = await kit.add();
    const id = await kit.add({ delayMs: 60_000, dependsOn: [upstream] });
    expect(await kit.backend.tasks.runNow(id)).toEqual({ kind: 'ok', state: 'deferred' });
    await kit.runToEnd(upstream);
    await kit.runToEnd(id);
    expect(await kit.state(id)).toBe('finished');
  },

  'runNow of a retry keeps its place and its attempts': async (kit, expect) => {
    const id = await kit.add();
    await kit.addMany(2);
    await kit.retry(await kit.leaseOne(), 3_600_000);
    await kit.backend.tasks.runNow(id);
    expect(await kit.leaseOne()).toMatchObject({ id, attempt: 2 });
  },

  'runNow refuses what is not scheduled': async (kit, expect) => {
    const id = await kit.add();
    const { tasks } = kit.backend;
    expect(await tasks.runNow(id)).toEqual({ kind: 'wrong-state', state: 'queued' });
    await kit.runToEnd(id);
    expect(await tasks.runNow(id)).toEqual({ kind: 'wrong-state', state: 'finished' });
    expect(await tasks.runNow('nowhere')).toEqual({ kind: 'not-found' });
  },
};
