/** Handlers that end while their tasks wait: their token speaks until the task is leased again. */

import type { Leased, SettleAnswer, Settlement, Suspension } from '../../domain/port/backend.ts';
import { ANSWER, type WaitTarget } from '../../domain/task/wait.ts';
import type { Cases } from '../cases.ts';
import type { Kit } from '../kit.ts';
import { Writer } from './stream-kit.ts';

const ENTRY = `${ANSWER}s:1/`;
const ERROR = '{"name":"Error","message":"no"}';

type Decided = Exclude<Settlement['decision'], Suspension>;

/** What a handler may come to, and where its task is then. */
const DECISIONS: readonly (readonly [Decided, SettleAnswer & { kind: 'ok' }])[] = [
  [
    { type: 'finish', result: '1' },
    { kind: 'ok', state: 'finished', repeated: false },
  ],
  [
    { type: 'dead-letter', cause: { type: 'fatal', failure: 'error' }, error: ERROR },
    { kind: 'ok', state: 'failed', repeated: false },
  ],
  [
    { type: 'cancel', cause: { type: 'decider', reason: 'so' } },
    { kind: 'ok', state: 'canceled', repeated: false },
  ],
  [
    {
      ...{ type: 'retry', delayMs: 0, error: ERROR },
      cause: { type: 'attempts', failure: 'error', made: 1, of: 2 },
    },
    { kind: 'ok', state: 'queued', repeated: false },
  ],
  [
    {
      ...{ type: 'retry', delayMs: 500, error: ERROR },
      cause: { type: 'attempts', failure: 'error', made: 1, of: 2 },
    },
    { kind: 'ok', state: 'scheduled', repeated: false },
  ],
  [
    { type: 'release', cause: { type: 'retry-after', reason: 'later' }, delayMs: 500 },
    { kind: 'ok', state: 'scheduled', repeated: false },
  ],
];

/** What it may wait for meanwhile. */
const WAITS: readonly ((id: string) => Partial<Suspension> & { readonly target?: WaitTarget })[] = [
  () => ({ target: { kind: 'time' }, wakeAfterMs: 60_000 }),
  (id) => ({ target: { kind: 'signal', name: 'go', targets: [id] } }),
  (id) => ({ target: { kind: 'signal', name: 'go', targets: [id] }, wakeAfterMs: 60_000 }),
  () => ({ target: { kind: 'event', name: 'paid', key: 'k' } }),
  (id) => ({
    target: { kind: 'ask', ask: { id: `${id}.m`, choices: ['yes'], for: ['ann'], text: '{}' } },
  }),
  () => ({ waitFor: ['member'] }),
  () => ({ waitFor: ['member'], wakeOn: 'failure', wakeAfterMs: 60_000 }),
];

/** A handler that waits for nothing any more. */
const NOTHING: Suspension = { type: 'suspend', waitFor: [], wakeOn: 'all', attended: true };

function suspensionOf(id: string, wait: (typeof WAITS)[number]): Suspension {
  const { target, ...rest } = wait(id);
  return {
    ...NOTHING,
    ...(target === undefined ? {} : { wait: { for: target, entry: ENTRY } }),
    ...rest,
  };
}

async function waitingTask(kit: Kit, id: string, wait: (typeof WAITS)[number]): Promise<Leased> {
  await kit.add({ id });
  const leased = await kit.leaseOne();
  kit.expect(leased.id).toBe(id);
  const answer = await kit.settle(leased, suspensionOf(id, wait));
  kit.expect(answer).toEqual({ kind: 'ok', state: 'deferred', repeated: false });
  return leased;
}

async function waiting(kit: Kit): Promise<number> {
  const figures = await kit.backend.waits.figures();
  return figures.reduce((sum, { count }) => sum + count, 0);
}

/** A signal that is never sent. */
const unsent = (id: string) => ({
  target: { kind: 'signal', name: 'go', targets: [id] } as const,
});

/** What a handler that goes on may say of a task that waits. */
export const attendedWaits: Cases = {
  // F79
  'a handler that ends settles its task, and takes it out of every kind of wait': async (
    kit,
    expect,
  ) => {
    await kit.add({ id: 'member', user: 'zoe', queue: 'bulk' });
    let n = 0;
    for (const wait of WAITS) {
      for (const [decision, expected] of DECISIONS) {
        const leased = await waitingTask(kit, `t${++n}`, wait);
        expect(await kit.settle(leased, decision)).toEqual(expected);
        expect(await waiting(kit)).toBe(0);
        expect((await kit.backend.asks.list({}, { limit: 10 })).items).toEqual([]);
        const again = { ...expected, repeated: true };
        const answer = await kit.settle(leased, decision);
        // A resend of a finish is a finish to who asks.
        expect({ ...answer, repeated: true }).toEqual(again);
        await kit.advance(1_000);
        if (expected.state === 'queued' || expected.state === 'scheduled') {
          await kit.finish(await kit.leaseOne());
        }
        expect((await kit.backend.inspect.reconcile({ repair: false })).drift).toEqual([]);
      }
    }
  },

  'one that was woken and is given back goes to the end of its line': async (kit, expect) => {
    for (const delayMs of [0, 100]) {
      await kit.add();
      const first = await kit.leaseOne();
      const leased = await waitingTask(kit, `woken${delayMs}`, unsent);
      const other = await kit.add();
      await kit.settle(first, { type: 'release', cause: { type: 'shutdown' } });
      await kit.backend.waits.signal(leased.id, { name: 'go', payload: '1' });
      await kit.settle(leased, { type: 'release', cause: { type: 'shutdown' }, delayMs });
      await kit.advance(delayMs);
      const leases = await kit.lease(4);
      expect(leases.map(({ id }) => id)).toEqual([first.id, other, leased.id]);
      for (const one of leases) await kit.finish(one);
    }
  },

  // F91
  'what it has left of its time is told as it was said, until it has ended': async (
    kit,
    expect,
  ) => {
    const timeLeft = '{"handlerMs":6000,"worker":"w 1"}';
    await kit.add({ id: 'member', user: 'zoe', queue: 'bulk' });
    let n = 0;
    for (const wait of WAITS) {
      const id = `t${++n}`;
      const leased = await waitingTask(kit, id, (one) => ({ ...wait(one), timeLeft }));
      expect((await kit.backend.inspect.facts(id))?.timeLeft).toBe(timeLeft);
      expect(
        await kit.settle(leased, { type: 'cancel', cause: { type: 'decider', reason: '' } }),
      ).toMatchObject({ kind: 'ok', state: 'canceled' });
      expect((await kit.backend.inspect.facts(id))?.timeLeft).toBeUndefined();
    }
    const bare = await waitingTask(kit, 'bare', unsent);
    expect((await kit.backend.inspect.facts('bare'))?.timeLeft).toBeUndefined();
    await kit.finish(bare);
    const leased = await waitingTask(kit, 'leased', (id) => ({ ...unsent(id), timeLeft }));
    await kit.backend.waits.signal('leased', { name: 'go', payload: '1' });
    const again = await kit.leaseOne();
    expect(again.token).not.toBe(leased.token);
    expect((await kit.backend.inspect.facts('leased'))?.timeLeft).toBe(timeLeft);
  },

  // F79
  'it counts also when the wait was answered just before, and not once the task is leased': async (
    kit,
    expect,
  ) => {
    const go = { name: 'go', payload: '1' };
    const first = await waitingTask(kit, 'first', unsent);
    expect(await kit.backend.waits.signal('first', go)).toEqual({ kind: 'delivered' });
    expect(await kit.state('first')).toBe('queued');
    expect(await kit.finish(first, '"own work"')).toMatchObject({ kind: 'ok', state: 'finished' });
    expect(await kit.leaseIds()).toEqual([]);
    const second = await waitingTask(kit, 'second', unsent);
    expect(await kit.backend.waits.signal('second', go)).toEqual({ kind: 'delivered' });
    const other = await kit.leaseOne();
    expect(await kit.finish(second, '"late"')).not.toMatchObject({ repeated: false });
    expect(await kit.state('second')).toBe('started');
    expect(await kit.finish(other, '"heard"')).toMatchObject({ kind: 'ok', state: 'finished' });
  },

  // F79
  'what it writes while it waits counts, until the task is leased again': async (kit, expect) => {
    const leased = await waitingTask(kit, 'a', unsent);
    const { id, token } = leased;
    const lease = { id, token };
    const writer = new Writer(kit, leased);
    const set = { type: 'set', field: 'c:k', text: '1' } as const;
    const { runs } = kit.backend;
    expect(await writer.write('1')).toBe('ok');
    expect(await runs.checkpoint(lease, { 's:2': '1' })).toBe('ok');
    expect(await runs.writeChannel(lease, { run: id, writes: [set] })).toBe('ok');
    await kit.backend.waits.signal(id, { name: 'go', payload: '1' });
    await kit.leaseOne();
    expect(await writer.write('2')).toBe('lost');
    expect(await runs.checkpoint(lease, { 's:3': '1' })).toBe('lost');
    expect(await runs.writeChannel(lease, { run: id, writes: [set] })).toBe('lost');
  },

  // F79
  'a suspension for nothing puts it back in line, its waits dropped': async (kit, expect) => {
    const leased = await waitingTask(kit, 'a', unsent);
    for (const _ of ['sent', 'sent again']) {
      expect(await kit.settle(leased, NOTHING)).toMatchObject({ kind: 'ok', state: 'queued' });
      expect(await waiting(kit)).toBe(0);
    }
    expect(await kit.backend.waits.signal('a', { name: 'go', payload: '1' })).toEqual({
      kind: 'buffered',
    });
    const again = await kit.leaseOne();
    expect([again.id, again.attempt, again.releases]).toEqual(['a', 1, 0]);
    await kit.settle(leased, NOTHING);
    expect(await kit.state('a')).toBe('started');
  },

  // F79
  'a suspension for nothing counts also in the call that suspended it for others': async (
    kit,
    expect,
  ) => {
    await kit.add({ id: 'member', user: 'zoe', queue: 'bulk' });
    for (const [at, wait] of WAITS.entries()) {
      await kit.add({ id: `t${at}` });
      const { id, token } = await kit.leaseOne();
      const settlements = [suspensionOf(id, wait), NOTHING].map((decision) => {
        return { id, token, decision };
      });
      const { answers } = await kit.backend.tasks.settle({ worker: 'w', settlements });
      expect(answers).toMatchObject([{ state: 'deferred' }, { state: 'queued' }]);
      expect(await waiting(kit)).toBe(0);
      await kit.finish(await kit.leaseOne());
      expect(await kit.state(id)).toBe('finished');
    }
  },

  // F79
  'without a handler nothing but a lease speaks for it': async (kit, expect) => {
    await kit.add({ id: 'a' });
    const leased = await kit.leaseOne();
    const wait = { for: { kind: 'time' }, entry: ENTRY } as const;
    const asleep = {
      type: 'suspend',
      waitFor: [],
      wakeOn: 'all',
      wakeAfterMs: 9_000,
      wait,
    } as const;
    expect(await kit.settle(leased, asleep)).toMatchObject({ kind: 'ok', state: 'deferred' });
    await kit.finish(leased, '1');
    expect(await kit.state('a')).toBe('deferred');
  },

  // F79
  'one that has ended by another is not spoken for any more': async (kit, expect) => {
    const leased = await waitingTask(kit, 'a', unsent);
    await kit.backend.tasks.cancel('a', { type: 'request' });
    await kit.finish(leased, '1');
    expect(await kit.state('a')).toBe('canceled');
  },
};
