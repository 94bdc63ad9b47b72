/** What suspended tasks wait for that is no task: time and signals. */

import { LIMITS } from '../../domain/limits.ts';
import type { Leased, SettleAnswer, Suspension } from '../../domain/port/backend.ts';
import { ANSWER, readAnswer, type WaitAnswer, type WaitTarget } from '../../domain/task/wait.ts';
import { type Cases, retaining } from '../cases.ts';
import type { Kit } from '../kit.ts';

const ENTRY = `${ANSWER}s:1/`;
const DAY_MS = 86_400_000;

function suspendFor(
  kit: Kit,
  leased: Leased,
  awaited: WaitTarget,
  more: Partial<Suspension> & { readonly entry?: string } = {},
): Promise<SettleAnswer> {
  const { entry = ENTRY, ...rest } = more;
  const wait = { for: awaited, entry };
  return kit.settle(leased, { type: 'suspend', waitFor: [], wakeOn: 'all', wait, ...rest });
}

function signalTo(...targets: readonly string[]): WaitTarget {
  return { kind: 'signal', name: 'go', targets };
}

async function answerOf(kit: Kit, id: string, entry = ENTRY): Promise<WaitAnswer | undefined> {
  const text = (await kit.backend.runs.load(id))[entry];
  return text === undefined ? undefined : readAnswer(text);
}

/** A task that is leased. */
async function leasedTask(kit: Kit, id: string, user = 'ann'): Promise<Leased> {
  await kit.add({ id, user });
  const leased = await kit.leaseOne();
  kit.expect(leased.id).toBe(id);
  return leased;
}

/** A task that is suspended until a signal `go` comes to it. */
async function waitingTask(kit: Kit, id: string, of: readonly string[] = [id]): Promise<void> {
  const answer = await suspendFor(kit, await leasedTask(kit, id), signalTo(...of));
  kit.expect(answer).toEqual({ kind: 'ok', state: 'deferred', repeated: false });
}

function send(
  kit: Kit,
  id: string,
  payload = '1',
  more: { readonly name?: string; readonly signalId?: string } = {},
) {
  return kit.backend.waits.signal(id, { name: 'go', payload, ...more });
}

/** A wait for time alone. */
export const sleeps: Cases = {
  'of a task that has depended on others is no drift, and no repair ends it': async (
    kit,
    expect,
  ) => {
    await kit.runToEnd(await kit.add({ id: 'before' }));
    for (const id of ['sleeps', 'hears']) {
      await kit.add({ id, dependsOn: ['before'] });
      const leased = await kit.leaseOne();
      const awaited = id === 'sleeps' ? ({ kind: 'time' } as const) : signalTo(id);
      await suspendFor(kit, leased, awaited, id === 'sleeps' ? { wakeAfterMs: 5_000 } : {});
    }
    for (const repair of [false, true, true]) {
      expect((await kit.backend.inspect.reconcile({ repair })).drift).toEqual([]);
      expect(await kit.states(['sleeps', 'hears'])).toEqual(['deferred', 'deferred']);
    }
    expect(await send(kit, 'hears')).toEqual({ kind: 'delivered' });
    await kit.advance(5_000);
    expect(await kit.states(['sleeps', 'hears'])).toEqual(['queued', 'queued']);
  },

  'wakes to the tick, and says so in the journal': async (kit, expect) => {
    const leased = await leasedTask(kit, 'a');
    const answer = await suspendFor(kit, leased, { kind: 'time' }, { wakeAfterMs: 2_000 });
    expect(answer).toEqual({ kind: 'ok', state: 'deferred', repeated: false });
    const until = kit.now() + 2_000;
    expect((await kit.backend.inspect.facts('a'))?.wait).toEqual({
      for: { kind: 'time' },
      since: until - 2_000,
      wakeAt: until,
    });
    await kit.advance(1_999);
    expect(await kit.state('a')).toBe('deferred');
    expect(await answerOf(kit, 'a')).toBeUndefined();
    await kit.advance(1);
    expect(await kit.state('a')).toBe('queued');
    expect(await answerOf(kit, 'a')).toEqual({ by: 'time', at: until, payload: '' });
    expect((await kit.backend.inspect.facts('a'))?.wait).toBeUndefined();
    const again = await kit.leaseOne();
    expect(again).toMatchObject({ id: 'a', attempt: 1, losses: 0 });
    await kit.finish(again);
  },

  'keeps no place, slot or turn, and goes before tasks that came later': async (kit, expect) => {
    await kit.setUser('ann', { maxRunning: 1 });
    const leased = await leasedTask(kit, 'a');
    const later = await kit.add();
    await suspendFor(kit, leased, { kind: 'time' }, { wakeAfterMs: 1_000 });
    expect(await kit.user('ann')).toMatchObject({ running: 0 });
    await kit.advance(1_000);
    const again = await kit.leaseOne();
    expect(again.id).toBe('a');
    await kit.finish(again);
    expect(await kit.leaseIds(1)).toEqual([later]);
  },

  'the same settle again changes nothing, and no time begins anew': async (kit, expect) => {
    const leased = await leasedTask(kit, 'a');
    await suspendFor(kit, leased, { kind: 'time' }, { wakeAfterMs: 2_000 });
    await kit.advance(1_000);
    const again = await suspendFor(kit, leased, { kind: 'time' }, { wakeAfterMs: 2_000 });
    expect(again).toMatchObject({ kind: 'ok', repeated: true });
    await kit.advance(1_000);
    expect(await kit.state('a')).toBe('queued');
  },

  'a requested cancel comes first; a cancel ends a wait': async (kit, expect) => {
    const first = await leasedTask(kit, 'a');
    await kit.cancel('a');
    const answer = await suspendFor(kit, first, { kind: 'time' }, { wakeAfterMs: 1_000 });
    expect(answer).toMatchObject({ kind: 'ok', state: 'canceled' });
    const second = await leasedTask(kit, 'b');
    await suspendFor(kit, second, { kind: 'time' }, { wakeAfterMs: 1_000 });
    expect(await kit.cancel('b')).toEqual({ kind: 'canceled' });
    await kit.advance(1_000);
    expect(await kit.state('b')).toBe('canceled');
    expect(await answerOf(kit, 'b')).toBeUndefined();
  },

  'is ended early by runNow, and by nothing else': async (kit, expect) => {
    const leased = await leasedTask(kit, 'a');
    await suspendFor(kit, leased, { kind: 'time' }, { wakeAfterMs: DAY_MS });
    expect(await send(kit, 'a')).toEqual({ kind: 'buffered' });
    expect(await kit.state('a')).toBe('deferred');
    expect(await kit.backend.tasks.runNow('a')).toEqual({ kind: 'ok', state: 'queued' });
    expect(await answerOf(kit, 'a')).toMatchObject({ by: 'time', payload: '' });
    await kit.runToEnd('a');
    await waitingTask(kit, 'b');
    expect(await kit.backend.tasks.runNow('b')).toEqual({ kind: 'wrong-state', state: 'deferred' });
  },

  'is counted by kind, with the oldest, until it is over': async (kit, expect) => {
    const none = [
      { kind: 'time', count: 0 },
      { kind: 'signal', count: 0 },
    ];
    const figures = async () => (await kit.backend.waits.figures()).slice(0, 2);
    expect(await figures()).toEqual(none);
    await waitingTask(kit, 'a');
    const since = kit.now();
    await kit.advance(1_000);
    await waitingTask(kit, 'b');
    const sleeper = await leasedTask(kit, 'c');
    await suspendFor(kit, sleeper, { kind: 'time' }, { wakeAfterMs: 2_000 });
    expect(await figures()).toEqual([
      { kind: 'time', count: 1, since: since + 1_000 },
      { kind: 'signal', count: 2, since },
    ]);
    await send(kit, 'a');
    await kit.cancel('b');
    await kit.advance(2_000);
    expect(await figures()).toEqual(none);
  },

  'is no drift': async (kit, expect) => {
    const leased = await leasedTask(kit, 'a');
    await suspendFor(kit, leased, { kind: 'time' }, { wakeAfterMs: DAY_MS });
    await waitingTask(kit, 'b');
    const report = await kit.backend.inspect.reconcile({ repair: true });
    expect(report.drift).toEqual([]);
    expect(await kit.states(['a', 'b'])).toEqual(['deferred', 'deferred']);
    expect(await send(kit, 'b')).toEqual({ kind: 'delivered' });
  },

  'wakes many that are due at once, of all users': async (kit, expect) => {
    const ids: string[] = [];
    for (let at = 0; at < 120; at++) ids.push(`s${at}`);
    for (const [at, id] of ids.entries()) {
      const leased = await leasedTask(kit, id, `user${at % 5}`);
      await suspendFor(kit, leased, { kind: 'time' }, { wakeAfterMs: 5_000 });
    }
    await kit.jump(6_000);
    expect(new Set(await kit.states(ids))).toEqual(new Set(['queued']));
  },
};

/** What comes to a task or run by name. */
export const signals: Cases = {
  'ends the wait of who waits for it, with its payload': async (kit, expect) => {
    await waitingTask(kit, 'a');
    expect((await kit.backend.inspect.facts('a'))?.wait).toEqual({
      for: signalTo('a'),
      since: kit.now(),
    });
    expect(await send(kit, 'a', '1', { name: 'stop' })).toEqual({ kind: 'buffered' });
    expect(await kit.state('a')).toBe('deferred');
    expect(await send(kit, 'a', '{"ok":true}')).toEqual({ kind: 'delivered' });
    expect(await kit.state('a')).toBe('queued');
    expect(await answerOf(kit, 'a')).toEqual({
      by: 'signal',
      at: kit.now(),
      payload: '{"ok":true}',
    });
    expect(await kit.leaseOne()).toMatchObject({ id: 'a', attempt: 1 });
  },

  'is kept, in order, until its task waits for it; each ends one wait': async (kit, expect) => {
    await kit.add({ id: 'a' });
    expect(await send(kit, 'a', '1')).toEqual({ kind: 'buffered' });
    expect(await send(kit, 'a', '"other"', { name: 'else' })).toEqual({ kind: 'buffered' });
    expect(await send(kit, 'a', '2')).toEqual({ kind: 'buffered' });
    for (const [round, payload] of ['1', '2'].entries()) {
      const entry = `${ANSWER}s:${round}/`;
      const leased = await kit.leaseOne();
      expect(await suspendFor(kit, leased, signalTo('a'), { entry })).toMatchObject({
        kind: 'ok',
        state: 'queued',
      });
      expect(await answerOf(kit, 'a', entry)).toMatchObject({ by: 'signal', payload });
    }
    const last = await suspendFor(kit, await kit.leaseOne(), signalTo('a'));
    expect(last).toMatchObject({ state: 'deferred' });
    expect(await send(kit, 'a', '3')).toEqual({ kind: 'delivered' });
  },

  'wakes the oldest of several that wait, one each': async (kit, expect) => {
    await kit.add({ id: 'run', delayMs: DAY_MS });
    for (const id of ['a', 'b']) await waitingTask(kit, id, [id, 'run']);
    expect(await send(kit, 'run')).toEqual({ kind: 'delivered' });
    expect(await kit.states(['a', 'b'])).toEqual(['queued', 'deferred']);
    expect(await send(kit, 'b')).toEqual({ kind: 'delivered' });
    expect(await send(kit, 'run')).toEqual({ kind: 'buffered' });
    expect(await kit.states(['a', 'b'])).toEqual(['queued', 'queued']);
  },

  'its own come before those of its run': async (kit, expect) => {
    await kit.add({ id: 'run', delayMs: DAY_MS });
    const leased = await leasedTask(kit, 'a');
    await send(kit, 'run', '"of the run"');
    await send(kit, 'a', '"own"');
    await suspendFor(kit, leased, signalTo('a', 'run'));
    expect(await answerOf(kit, 'a')).toMatchObject({ payload: '"own"' });
    await suspendFor(kit, await kit.leaseOne(), signalTo('a', 'run'), { entry: '=s:2/' });
    expect(await answerOf(kit, 'a', '=s:2/')).toMatchObject({ payload: '"of the run"' });
  },

  'of a signal and the end of the time one wins': async (kit, expect) => {
    const leased = await leasedTask(kit, 'a');
    await suspendFor(kit, leased, signalTo('a'), { wakeAfterMs: 1_000 });
    await kit.advance(1_000);
    expect(await answerOf(kit, 'a')).toMatchObject({ by: 'time' });
    expect(await send(kit, 'a')).toEqual({ kind: 'buffered' });
    await kit.runToEnd('a');
    const second = await leasedTask(kit, 'b');
    await suspendFor(kit, second, signalTo('b'), { wakeAfterMs: 1_000 });
    expect(await send(kit, 'b')).toEqual({ kind: 'delivered' });
    await kit.advance(2_000);
    expect(await answerOf(kit, 'b')).toMatchObject({ by: 'signal' });
  },

  'sent again under its id it changes nothing': async (kit, expect) => {
    await kit.add({ id: 'a' });
    expect(await send(kit, 'a', '1', { signalId: 'x' })).toEqual({ kind: 'buffered' });
    expect(await send(kit, 'a', '2', { signalId: 'x' })).toEqual({ kind: 'repeated' });
    await suspendFor(kit, await kit.leaseOne(), signalTo('a'));
    expect(await send(kit, 'a', '3', { signalId: 'x' })).toEqual({ kind: 'repeated' });
    await suspendFor(kit, await kit.leaseOne(), signalTo('a'), { entry: '=s:2/' });
    expect(await send(kit, 'a', '4', { signalId: 'y' })).toEqual({ kind: 'delivered' });
    expect(await send(kit, 'a', '4', { signalId: 'y' })).toEqual({ kind: 'repeated' });
    expect(await answerOf(kit, 'a', '=s:2/')).toMatchObject({ payload: '4' });
  },

  'an id is forgotten behind so many newer ones': async (kit, expect) => {
    await kit.add({ id: 'a' });
    const leased = await kit.leaseOne();
    expect(await send(kit, 'a', '1', { signalId: 'oldest' })).toEqual({ kind: 'buffered' });
    await suspendFor(kit, leased, signalTo('a'), { entry: '=s:0/' });
    for (let at = 1; at < LIMITS.signalIds; at++) {
      await send(kit, 'a', '0', { signalId: `id${at}` });
    }
    expect(await send(kit, 'a', '1', { signalId: 'oldest' })).toEqual({ kind: 'repeated' });
    expect(await send(kit, 'a', '1', { signalId: 'newest' })).toEqual({ kind: 'buffered' });
    await suspendFor(kit, await kit.leaseOne(), signalTo('a'));
    expect(await send(kit, 'a', '1', { signalId: 'oldest' })).toEqual({ kind: 'buffered' });
    expect(await send(kit, 'a', '1', { signalId: 'id1' })).toMatchObject({ kind: 'full' });
  },

  'to a missing or an ended task is answered as such': async (kit, expect) => {
    expect(await send(kit, 'nobody')).toEqual({ kind: 'not-found' });
    await kit.add({ id: 'a' });
    await kit.runToEnd('a');
    expect(await send(kit, 'a')).toEqual({ kind: 'ended', state: 'finished' });
  },

  'is bounded in number and in bytes, and goes on once there is room': async (kit, expect) => {
    await kit.add({ id: 'a' });
    const leased = await kit.leaseOne();
    for (let at = 0; at < LIMITS.signals; at++) {
      const { kind } = await send(kit, 'a', `${at}`);
      if (kind !== 'buffered') expect(kind).toBe('buffered');
    }
    expect(await send(kit, 'a')).toEqual({ kind: 'full', limit: 'signals' });
    await suspendFor(kit, leased, signalTo('a'));
    expect(await send(kit, 'a')).toEqual({ kind: 'buffered' });
    await kit.add({ id: 'b' });
    const large = `"${'é'.repeat(LIMITS.signalBytes / 4)}"`;
    expect(await send(kit, 'b', large)).toEqual({ kind: 'buffered' });
    expect(await send(kit, 'b', large)).toEqual({ kind: 'full', limit: 'signalBytes' });
    expect(await send(kit, 'b', '1')).toEqual({ kind: 'buffered' });
  },

  'who is canceled waits no more: the next signal is kept': async (kit, expect) => {
    await kit.add({ id: 'run', delayMs: DAY_MS });
    for (const id of ['a', 'b']) await waitingTask(kit, id, [id, 'run']);
    await kit.cancel('a');
    expect(await send(kit, 'run')).toEqual({ kind: 'delivered' });
    expect(await kit.states(['a', 'b'])).toEqual(['canceled', 'queued']);
    expect(await send(kit, 'run')).toEqual({ kind: 'buffered' });
  },

  'they go with the record, and a task of the same id begins without': retaining(
    { finishedMs: 1_000, canceledMs: 1_000 },
    async (kit, expect) => {
      await kit.add({ id: 'a' });
      await send(kit, 'a', '1', { signalId: 'x' });
      await kit.runToEnd('a');
      await kit.rest();
      await kit.jump(kit.leastKeptMs() + 1_000);
      expect(await kit.state('a')).toBe('missing');
      await kit.add({ id: 'a' });
      await suspendFor(kit, await kit.leaseOne(), signalTo('a'));
      expect(await kit.state('a')).toBe('deferred');
      expect(await send(kit, 'a', '2', { signalId: 'x' })).toEqual({ kind: 'delivered' });
    },
  ),

  'a foreign token suspends nothing, and takes nothing': async (kit, expect) => {
    const leased = await leasedTask(kit, 'a');
    await send(kit, 'a');
    const foreign = { ...leased, token: `${leased.token}0` };
    expect(await suspendFor(kit, foreign, signalTo('a'))).toEqual({ kind: 'leaseLost' });
    expect(await suspendFor(kit, leased, signalTo('a'))).toMatchObject({ state: 'queued' });
  },

  'with a payload of any text': async (kit, expect) => {
    const payload = JSON.stringify({ a: 'é\u0000\n "x" \\', b: '  time ' });
    await waitingTask(kit, 'a');
    await send(kit, 'a', payload, { signalId: 'é "1"' });
    expect(await answerOf(kit, 'a')).toMatchObject({ by: 'signal', payload });
    await send(kit, 'a', payload, { name: 'other' });
    await suspendFor(kit, await kit.leaseOne(), { kind: 'signal', name: 'other', targets: ['a'] });
    expect(await answerOf(kit, 'a')).toMatchObject({ by: 'signal', payload });
  },
};
