/** What a pause does not hold up, and how it ends. */

import { LIMITS } from '../../domain/limits.ts';
import { type Cases, retaining } from '../cases.ts';
import { nothingStarts, pause, reconciled, resume, runWith } from './pause-kit.ts';

/** By what pauses end, and what goes on meanwhile. */
export const pauseEnds: Cases = {
  'of an unknown run, and of one that has ended, are refused': async (kit, expect) => {
    const { runs } = kit.backend;
    expect(await runs.pause('nobody')).toEqual({ kind: 'not-found' });
    expect(await runs.resume('nobody')).toEqual({ kind: 'not-found' });
    await kit.add({ id: 'a' });
    expect(await runs.resume('a')).toEqual({ kind: 'ok', state: 'queued' });
    await kit.runToEnd('a');
    expect(await runs.pause('a')).toEqual({ kind: 'wrong-state', state: 'finished' });
    expect(await runs.resume('a')).toEqual({ kind: 'wrong-state', state: 'finished' });
    expect((await kit.record('a'))?.paused).toBeUndefined();
  },

  'time to start goes on, and does not begin anew': async (kit, expect) => {
    await runWith(kit);
    const before = await kit.add();
    const spent = { expiresInMs: 5_000, owner: 'run' } as const;
    await kit.add({ id: 'a', ...spent });
    await kit.add({ id: 'b', ...spent, dependsOn: [before], expiresFrom: 'release' });
    await kit.finish(await kit.leaseOne());
    await kit.rest();
    const limits = await kit.backend.inspect.get(['a', 'b']);
    await pause(kit);
    await nothingStarts(kit);
    await kit.advance(1_000);
    await resume(kit);
    const after = await kit.backend.inspect.get(['a', 'b']);
    expect(after.map((one) => one?.expiresAt)).toEqual(limits.map((one) => one?.expiresAt));
    await pause(kit);
    await nothingStarts(kit);
    await kit.advance(5_000);
    expect(await kit.states(['a', 'b'])).toEqual(['failed', 'failed']);
    await reconciled(kit);
    await resume(kit);
    await nothingStarts(kit);
  },

  'who is held can be canceled': async (kit, expect) => {
    const run = await runWith(kit, 'a', 'b');
    await pause(kit);
    await nothingStarts(kit);
    expect(await kit.cancel('a')).toEqual({ kind: 'canceled' });
    await resume(kit);
    await reconciled(kit);
    expect(await kit.leaseIds(9)).toEqual(['b']);
    await pause(kit);
    await kit.add({ id: 'c', owner: 'run' });
    await nothingStarts(kit);
    await kit.cancel('c');
    await kit.finish(run);
    // No task is left aside, and its end is through at once.
    expect(await kit.rest()).toBe(1);
  },

  'ends with the run, and so does what it holds': async (kit, expect) => {
    const members = Array.from({ length: LIMITS.cascadeStep + 3 }, (_, n) => `m${n}`);
    const run = await runWith(kit, ...members);
    await pause(kit);
    await nothingStarts(kit);
    await kit.cancel('run');
    await kit.finish(run);
    await kit.rest();
    expect(await kit.record('run')).toMatchObject({ state: 'canceled' });
    expect((await kit.record('run'))?.paused).toBeUndefined();
    const records = await kit.backend.inspect.get(members);
    const cause = { type: 'run-ended', run: 'run' };
    expect(records.map((one) => ({ state: one?.state, cause: one?.cause }))).toEqual(
      members.map(() => ({ state: 'canceled', cause })),
    );
    await reconciled(kit);
  },

  'a run that finishes is paused no more': async (kit, expect) => {
    const run = await runWith(kit, 'a');
    await pause(kit);
    await nothingStarts(kit);
    await kit.finish(run);
    await kit.rest();
    expect(await kit.record('run')).toMatchObject({ state: 'finished' });
    expect((await kit.record('run'))?.paused).toBeUndefined();
    expect(await kit.state('a')).toBe('canceled');
  },

  'outlives a failure and a redrive': async (kit, expect) => {
    const { runs, tasks } = kit.backend;
    const run = await runWith(kit, 'a', 'b');
    const a = await kit.leaseOne();
    await pause(kit, 'run', 'look');
    await nothingStarts(kit);
    await kit.fail(a);
    expect(await tasks.redrive('a')).toMatchObject({ kind: 'ok' });
    await kit.fail(run);
    expect(await kit.record('run')).toMatchObject({ state: 'failed', paused: { reason: 'look' } });
    expect(await runs.pause('run')).toEqual({ kind: 'wrong-state', state: 'failed' });
    await kit.rest();
    expect(await kit.state('b')).toBe('deferred');
    await tasks.redrive('run');
    await nothingStarts(kit);
    expect(await kit.record('run')).toMatchObject({ state: 'deferred', paused: {} });
    await reconciled(kit);
    await resume(kit);
    expect((await kit.leaseIds(9)).toSorted()).toEqual(['a', 'b', 'run']);
  },

  'of a run that has failed ends, and what it has set aside is in line': async (kit, expect) => {
    const run = await runWith(kit);
    const [tied = ''] = await kit.addMany(1);
    await kit.add({ id: 'a', owner: 'run' });
    await pause(kit);
    await kit.backend.runs.pausePart(tied, 'run');
    await nothingStarts(kit);
    await kit.fail(run);
    await resume(kit);
    expect(await kit.states([tied, 'a'])).toEqual(['queued', 'queued']);
    expect(await kit.leaseIds(9)).toEqual([tied]);
    expect(await kit.state('a')).toBe('canceled');
    await reconciled(kit);
  },

  'is gone with the record of its run': retaining({ failedMs: 120_000 }, async (kit, expect) => {
    const run = await runWith(kit, 'a');
    await pause(kit);
    await nothingStarts(kit);
    await kit.fail(run);
    await kit.jump(200_000);
    expect(await kit.state('run')).toBe('missing');
    expect(await kit.record('a')).toMatchObject({
      state: 'canceled',
      cause: { type: 'run-ended', run: 'run' },
    });
    await kit.add({ id: 'run' });
    expect((await kit.record('run'))?.paused).toBeUndefined();
    expect(await kit.leaseIds(9)).toEqual(['run']);
    await reconciled(kit);
  }),

  'of queue, user and run each hold by themselves': async (kit, expect) => {
    await runWith(kit, 'a');
    await kit.setUser('ann', { paused: true });
    await pause(kit);
    await nothingStarts(kit);
    expect(await kit.state('a')).toBe('queued');
    await kit.setUser('ann', { paused: false });
    await nothingStarts(kit);
    expect(await kit.state('a')).toBe('deferred');
    await kit.setQueue({ paused: true });
    await resume(kit);
    await nothingStarts(kit);
    await kit.setQueue({ paused: false });
    expect(await kit.leaseIds(9)).toEqual(['a']);
  },

  'cost no turn, and no other task waits for them': async (kit, expect) => {
    await runWith(kit);
    await kit.addMany(LIMITS.unknownNamesPerLease + 9, { owner: 'run' });
    const own = await kit.add();
    const others = [await kit.add({ user: 'bob' }), await kit.add({ user: 'cem' })];
    await pause(kit);
    const served = (await kit.leaseMany(3)).map(({ id }) => id);
    expect(served.toSorted()).toEqual([own, ...others].toSorted());
  },

  'hold what was parked when a worker comes that knows it': async (kit, expect) => {
    await runWith(kit);
    await kit.add({ id: 'odd', name: 'odd', owner: 'run' });
    await nothingStarts(kit);
    expect((await kit.backend.inspect.facts('odd'))?.parked).toBe(true);
    await kit.add({ id: 'alone', name: 'odd' });
    await nothingStarts(kit);
    await pause(kit, 'alone');
    expect(await kit.state('alone')).toBe('deferred');
    await pause(kit);
    await kit.worker('w2', { names: ['odd'] });
    expect(await kit.leaseIds(9, { worker: 'w2' })).toEqual([]);
    expect(await kit.state('odd')).toBe('deferred');
    await reconciled(kit);
    await resume(kit);
    await resume(kit, 'alone');
    expect(await kit.leaseIds(9, { worker: 'w2' })).toEqual(['odd', 'alone']);
  },

  'are told with facts, of the run and of its tasks': async (kit, expect) => {
    const { inspect } = kit.backend;
    await runWith(kit, 'a', 'b');
    await kit.add({ id: 'aa', owner: 'a' });
    await pause(kit, 'run', 'look');
    const paused = { run: 'run', since: kit.now(), reason: 'look' };
    await kit.cancel('b');
    for (const id of ['run', 'a', 'aa']) {
      expect((await inspect.facts(id))?.paused).toEqual(paused);
    }
    expect((await inspect.facts('b'))?.paused).toBeUndefined();
    const { items } = await inspect.list({ state: 'started' }, { limit: 9 });
    expect(items.map((row) => row.paused)).toEqual([{ since: paused.since, reason: 'look' }]);
    await resume(kit);
    expect((await inspect.facts('a'))?.paused).toBeUndefined();
  },
};
