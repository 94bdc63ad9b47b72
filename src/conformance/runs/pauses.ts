/** Runs that are paused: nothing of them is started, and all else goes on. */

import { LIMITS } from '../../domain/limits.ts';
import { ANSWER } from '../../domain/task/wait.ts';
import type { Cases } from '../cases.ts';
import { nothingStarts, pause, reconciled, resume, runWith } from './pause-kit.ts';

const ENTRY = `${ANSWER}s:1/`;
const DAY_MS = 86_400_000;

/** What is set aside, and in which order it goes on. */
export const aside: Cases = {
  'a run in line is set aside at once, and goes back to its place': async (kit, expect) => {
    const [a, b, c] = await kit.addMany(3);
    if (a === undefined || b === undefined) throw new TypeError('three ids');
    const since = kit.now();
    const pause = { since, reason: 'é "x"' };
    expect(await kit.backend.runs.pause(a, 'é "x"')).toEqual({ kind: 'ok', pause });
    expect(await kit.record(a)).toMatchObject({ state: 'deferred', paused: pause });
    await kit.backend.runs.pause(b);
    expect((await kit.record(b))?.paused).toEqual({ since });
    expect((await kit.record(c ?? ''))?.paused).toBeUndefined();
    await kit.advance(1_000);
    await kit.backend.runs.pause(a, 'again');
    expect((await kit.record(a))?.paused).toEqual(pause);
    await reconciled(kit);
    await resume(kit, b);
    await resume(kit, a);
    expect((await kit.record(a))?.paused).toBeUndefined();
    expect(await kit.leaseIds(3)).toEqual([a, b, c]);
  },

  'members are set aside when their turn comes, and go back to their places': async (
    kit,
    expect,
  ) => {
    await runWith(kit, 'a', 'b');
    const other = await kit.add();
    await kit.add({ id: 'c', owner: 'run' });
    await pause(kit);
    await kit.add({ id: 'late', owner: 'run' });
    expect(await kit.leaseIds(9)).toEqual([other]);
    await nothingStarts(kit);
    expect(await kit.states(['run', 'a', 'b', 'c', 'late'])).toEqual([
      'started',
      'deferred',
      'deferred',
      'deferred',
      'deferred',
    ]);
    await reconciled(kit);
    const last = await kit.add();
    await resume(kit);
    await reconciled(kit);
    expect(await kit.leaseIds(9)).toEqual(['a', 'b', 'c', 'late', last]);
  },

  'the end of a pause that there was not sets nothing aside': async (kit, expect) => {
    await runWith(kit, 'a');
    await pause(kit);
    expect(await kit.backend.runs.resume('a')).toEqual({ kind: 'ok', state: 'queued' });
    expect(await kit.state('a')).toBe('queued');
    await nothingStarts(kit);
    expect(await kit.state('a')).toBe('deferred');
  },

  'owners that are a circle hold no task up': async (kit, expect) => {
    await kit.send({ id: 'own', owner: 'own' }, { id: 'a', owner: 'b' }, { id: 'b', owner: 'a' });
    expect(await kit.leaseIds(3)).toEqual(['own', 'a', 'b']);
    await kit.add({ id: 'c', owner: 'own' });
    expect(await kit.backend.runs.pause('own')).toMatchObject({ kind: 'ok' });
    expect(await kit.leaseIds(3)).toEqual([]);
  },

  'members of members too, also those whose owner runs on': async (kit, expect) => {
    await runWith(kit, 'a');
    const a = await kit.leaseOne();
    await kit.add({ id: 'aa', owner: 'a' });
    const aa = await kit.leaseOne();
    await kit.add({ id: 'aaa', owner: 'aa' });
    await pause(kit);
    await kit.add({ id: 'ab', owner: 'a' });
    await nothingStarts(kit);
    expect(await kit.backend.runs.checkpoint(aa, { x: '1' })).toBe('paused');
    await kit.settle(a, { type: 'suspend', waitFor: ['aa', 'ab'], wakeOn: 'failure' });
    await kit.fail(aa);
    await nothingStarts(kit);
    await resume(kit);
    expect(await kit.leaseIds(9)).toEqual(['a', 'ab']);
    await kit.rest();
    // Its owner has failed meanwhile.
    expect(await kit.state('aaa')).toBe('canceled');
  },

  'what is started goes on, and nothing of it begins again': async (kit, expect) => {
    const run = await runWith(kit, 'a', 'b', 'c', 'd', 'e');
    const [a, b, c, d, e] = await kit.lease(5);
    if (!(a && b && c && d && e)) throw new TypeError('five leases');
    await pause(kit);
    expect(await kit.backend.runs.checkpoint(run, { x: '1' })).toBe('paused');
    expect(await kit.backend.runs.load('run')).toEqual({ x: '1' });
    expect(await kit.finish(a)).toMatchObject({ kind: 'ok', state: 'finished' });
    await kit.retry(b, 0);
    await kit.retry(c, 1_000);
    await kit.release(d);
    await nothingStarts(kit);
    await kit.advance(LIMITS.leaseMs + 1);
    await nothingStarts(kit);
    expect(await kit.state('e')).toBe('deferred');
    expect(await kit.record('run')).toMatchObject({ state: 'deferred', paused: {} });
    expect(await kit.backend.runs.checkpoint(run, { x: '2' })).toBe('lost');
    await reconciled(kit);
    await resume(kit);
    const again = await kit.lease(9);
    expect(again.map(({ id }) => id).toSorted()).toEqual(['b', 'c', 'd', 'e', 'run']);
    const lost = again.find(({ id }) => id === 'run');
    expect(lost).toMatchObject({ attempt: 1, losses: 1 });
    expect(await kit.backend.runs.checkpoint(lost ?? run, { x: '3' })).toBe('ok');
  },

  'what waits is woken, and then not started': async (kit, expect) => {
    const { runs, waits } = kit.backend;
    const run = await runWith(kit, 'signal', 'time', 'event');
    const leases = await kit.lease(3);
    const targets = ['run'];
    for (const leased of leases) {
      const awaited = {
        signal: { kind: 'signal', name: 'go', targets },
        time: { kind: 'time' },
        event: { kind: 'event', name: 'paid', key: '1' },
      } as const;
      const wait = { for: awaited[leased.id as keyof typeof awaited], entry: ENTRY };
      const late = leased.id === 'time' ? { wakeAfterMs: 1_000 } : {};
      await kit.settle(leased, { type: 'suspend', waitFor: [], wakeOn: 'all', wait, ...late });
    }
    await kit.settle(run, { type: 'suspend', waitFor: ['signal'], wakeOn: 'all' });
    await pause(kit);
    expect(await waits.signal('run', { name: 'go', payload: '7' })).toEqual({ kind: 'delivered' });
    const event = { name: 'paid', key: '1', payload: '8', eventId: 'e', keepMs: 1_000 };
    expect(await waits.publish('ann', event, [])).toEqual({ kind: 'published' });
    await kit.advance(1_000);
    await nothingStarts(kit);
    for (const id of ['signal', 'time', 'event']) {
      expect(await kit.state(id)).toBe('deferred');
      expect((await runs.load(id))[ENTRY]).toBeDefined();
    }
    expect(await kit.record('run')).toMatchObject({ blockedBy: ['signal'] });
    await reconciled(kit);
    await resume(kit);
    expect((await kit.leaseIds(9)).toSorted()).toEqual(['event', 'signal', 'time']);
  },

  'delays and dependencies go on': async (kit, expect) => {
    const before = await kit.add();
    await kit.add({ id: 'late', delayMs: 1_000 });
    await kit.add({ id: 'now', delayMs: DAY_MS });
    await kit.add({ id: 'behind', dependsOn: [before] });
    for (const id of ['late', 'now', 'behind']) await pause(kit, id);
    expect(await kit.states(['late', 'now', 'behind'])).toEqual([
      'scheduled',
      'scheduled',
      'deferred',
    ]);
    expect(await kit.backend.tasks.runNow('now')).toMatchObject({ kind: 'ok' });
    await kit.runToEnd(before);
    await kit.advance(1_000);
    await nothingStarts(kit);
    expect(await kit.states(['late', 'now', 'behind'])).toEqual(Array(3).fill('deferred'));
    expect(await kit.backend.tasks.runNow('now')).toMatchObject({ kind: 'wrong-state' });
    await reconciled(kit);
    for (const id of ['late', 'behind', 'now']) await resume(kit, id);
    expect(await kit.leaseIds(9)).toEqual(['now', 'behind', 'late']);
  },

  'a task that has no owner is tied to its run': async (kit, expect) => {
    const { runs } = kit.backend;
    const before = await kit.add();
    const ids = [await kit.add(), await kit.add({ dependsOn: [before] })];
    await kit.add({ id: 'run', join: true, dependsOn: [...ids] });
    await pause(kit);
    for (const id of ids) expect(await runs.pausePart(id, 'run')).toMatchObject({ kind: 'ok' });
    expect(await kit.states(ids)).toEqual(['deferred', 'deferred']);
    await kit.runToEnd(before);
    await kit.add({ id: 'inner', owner: ids[0] ?? '' });
    await nothingStarts(kit);
    await reconciled(kit);
    await resume(kit);
    expect((await kit.leaseIds(9)).toSorted()).toEqual([...ids, 'inner'].toSorted());
    // The tie outlives the pause.
    await pause(kit);
    expect(await runs.pausePart(ids[0] ?? '', 'run')).toMatchObject({ state: 'started' });
    expect(await runs.pausePart(before, 'run')).toEqual({ kind: 'wrong-state', state: 'finished' });
    expect(await runs.pausePart('nobody', 'run')).toEqual({ kind: 'not-found' });
  },

  'a join ends while its run is paused': async (kit, expect) => {
    const run = await runWith(kit, 'a');
    const a = await kit.leaseOne();
    await kit.add({ id: 'join', join: true, dependsOn: ['a'], owner: 'run' });
    await kit.settle(run, { type: 'suspend', waitFor: ['join'], wakeOn: 'all' });
    await pause(kit);
    await kit.finish(a);
    await kit.rest();
    expect(await kit.state('join')).toBe('finished');
    await nothingStarts(kit);
    expect(await kit.record('run')).toMatchObject({ state: 'deferred', blockedBy: [] });
    await resume(kit);
    expect(await kit.leaseIds(9)).toEqual(['run']);
  },

  'many are set aside and go back, some in each step': async (kit, expect) => {
    await runWith(kit);
    const ids = await kit.addMany(3 * LIMITS.cascadeStep, { owner: 'run' });
    await pause(kit);
    await nothingStarts(kit);
    expect(new Set(await kit.states(ids))).toEqual(new Set(['deferred']));
    await kit.backend.runs.resume('run');
    await pause(kit);
    await kit.rest();
    await nothingStarts(kit);
    await reconciled(kit);
    await resume(kit);
    expect((await kit.leaseMany(500)).map(({ id }) => id)).toEqual(ids);
    await reconciled(kit);
  },
};
