/**
 * What comes after a deadline that no maintenance has looked at: the clock of the store decides, not the next tick.
 * Each place where something comes to a task that waits stands in {@link LATE} once.
 */

import { LIMITS } from '../../domain/limits.ts';
import type { Leased } from '../../domain/port/backend.ts';
import { ANSWER, readAnswer, type WaitAnswer, type WaitTarget } from '../../domain/task/wait.ts';
import type { Cases } from './cases.ts';
import type { Kit } from './kit.ts';

const ENTRY = `${ANSWER}s:1/`;
const WAIT_MS = 1_000;
const PAID = { name: 'order.paid', key: 'o:7' } as const;

async function leased(kit: Kit, id: string): Promise<Leased> {
  await kit.add({ id });
  const given = await kit.leaseOne();
  kit.expect(given.id).toBe(id);
  return given;
}

async function waiting(kit: Kit, given: Leased, target: WaitTarget, ms = WAIT_MS): Promise<void> {
  const answer = await kit.settle(given, {
    type: 'suspend',
    waitFor: [],
    wakeOn: 'all',
    wait: { for: target, entry: ENTRY },
    wakeAfterMs: ms,
  });
  kit.expect(answer).toMatchObject({ kind: 'ok', state: 'deferred' });
}

async function answerOf(kit: Kit, id: string): Promise<WaitAnswer | undefined> {
  const text = (await kit.backend.runs.load(id))[ENTRY];
  return text === undefined ? undefined : readAnswer(text);
}

function send(kit: Kit, id: string, payload = '1') {
  return kit.backend.waits.signal(id, { name: 'go', payload });
}

function signalTo(...targets: readonly string[]): WaitTarget {
  return { kind: 'signal', name: 'go', targets };
}

function questionOf(id: string): WaitTarget {
  return { kind: 'ask', ask: { id: `${id}.m`, choices: ['y'], for: ['ops'], text: '{}' } };
}

function answerAsk(kit: Kit, id: string, choice = 'y') {
  return kit.backend.asks.answer(`${id}.m`, { choice, by: 'bob', text: '{}', call: 'c1' });
}

async function publish(kit: Kit, eventId: string): Promise<string> {
  const event = { ...PAID, payload: '7', eventId, keepMs: LIMITS.eventKeepMs };
  return (await kit.backend.waits.publish('ann', event, [])).kind;
}

/** What a task can wait for, how that comes, and what answers it when it comes too late. */
interface Late {
  readonly target: (id: string) => WaitTarget;
  readonly come: (kit: Kit, id: string) => Promise<unknown>;
  readonly reply: unknown;
}

const CLOSED = { kind: 'closed', closing: { how: 'timed-out' } };

const LATE: Readonly<Record<string, Late>> = {
  'a signal': { target: signalTo, come: (kit, id) => send(kit, id), reply: { kind: 'buffered' } },
  'an answer': { target: questionOf, come: (kit, id) => answerAsk(kit, id), reply: CLOSED },
  'an answer that is no choice': {
    target: questionOf,
    come: (kit, id) => answerAsk(kit, id, 'n'),
    reply: CLOSED,
  },
  'an event': {
    target: () => ({ kind: 'event', ...PAID }),
    come: (kit, id) => publish(kit, `event of ${id}`),
    reply: 'published',
  },
};

const lateCases = Object.fromEntries(
  Object.entries(LATE).map(([what, { target, come, reply }]): [string, Cases[string]] => [
    `${what} after the time of the wait ends nothing: the wait is over by its time`,
    async (kit, expect) => {
      const given = await leased(kit, 'a');
      await waiting(kit, given, target('a'));
      await kit.shift(WAIT_MS + 3_000);
      const answer = await come(kit, 'a');
      if (typeof reply === 'string') expect(answer).toBe(reply);
      else expect(answer).toMatchObject(reply as object);
      expect(await answerOf(kit, 'a')).toMatchObject({ by: 'time', payload: '' });
      expect(await kit.state('a')).toBe('queued');
      await kit.rest();
      expect(await answerOf(kit, 'a')).toMatchObject({ by: 'time' });
      expect((await kit.backend.inspect.facts('a'))?.wait).toBeUndefined();
    },
  ]),
);

/** Deadlines of waits, judged by the clock of the step. */
export const late: Cases = {
  // F82
  ...lateCases,

  // F82
  'a signal goes to the first waiter whose time is not over': async (kit, expect) => {
    for (const id of ['late', 'later', 'in-time', 'behind']) {
      const ms = id.startsWith('late') ? WAIT_MS : 60_000;
      await waiting(kit, await leased(kit, id), signalTo('late'), ms);
    }
    await kit.shift(WAIT_MS);
    expect(await send(kit, 'late', '"x"')).toEqual({ kind: 'delivered' });
    expect(await answerOf(kit, 'in-time')).toMatchObject({ by: 'signal', payload: '"x"' });
    for (const id of ['late', 'later']) {
      expect(await answerOf(kit, id)).toMatchObject({ by: 'time' });
    }
    expect(await kit.state('behind')).toBe('deferred');
  },

  // F82
  'more waits than one step ends are over before a late signal is kept': async (kit, expect) => {
    const ids = await kit.addMany(LIMITS.cascadeStep + 20);
    for (const given of await kit.leaseMany(ids.length)) {
      await waiting(kit, given, signalTo(ids[0] ?? ''));
    }
    await kit.shift(WAIT_MS);
    expect(await send(kit, ids[0] ?? '')).toEqual({ kind: 'buffered' });
    expect(new Set(await kit.states(ids))).toEqual(new Set(['queued']));
    for (const id of ids) expect(await answerOf(kit, id)).toMatchObject({ by: 'time' });
  },

  // F82
  'a late event ends nothing, also where maintenance passes it on': async (kit, expect) => {
    const ids = await kit.addMany(LIMITS.cascadeStep + 20);
    for (const given of await kit.leaseMany(ids.length)) {
      await waiting(kit, given, { kind: 'event', ...PAID });
    }
    await kit.add({ id: 'in-time' });
    await waiting(kit, await kit.leaseOne(), { kind: 'event', ...PAID }, 60_000);
    await kit.shift(WAIT_MS + 1);
    expect(await publish(kit, 'e1')).toBe('published');
    await kit.rest();
    for (const id of ids) expect(await answerOf(kit, id)).toMatchObject({ by: 'time' });
    expect(await answerOf(kit, 'in-time')).toMatchObject({ by: 'event', payload: '7' });
  },

  // F82
  'an event of before the deadline counts, also when maintenance comes after it': async (
    kit,
    expect,
  ) => {
    const ids = await kit.addMany(LIMITS.cascadeStep + 20);
    for (const given of await kit.leaseMany(ids.length)) {
      await waiting(kit, given, { kind: 'event', ...PAID });
    }
    await kit.shift(WAIT_MS - 1);
    expect(await publish(kit, 'e1')).toBe('published');
    await kit.shift(3_000);
    await kit.rest();
    for (const id of ids) expect(await answerOf(kit, id)).toMatchObject({ by: 'event' });
  },

  // F82
  'a question whose time is over is listed no more, and reads as timed out': async (
    kit,
    expect,
  ) => {
    await waiting(kit, await leased(kit, 'a'), questionOf('a'));
    await waiting(kit, await leased(kit, 'b'), questionOf('b'), 60_000);
    const until = kit.now() + WAIT_MS;
    await kit.shift(WAIT_MS);
    const { items } = await kit.backend.asks.list({}, { limit: 10 });
    expect(items.map(({ id }) => id)).toEqual(['b.m']);
    expect(await kit.backend.asks.get('a.m')).toMatchObject({
      closing: { how: 'timed-out', at: until },
    });
    expect(await answerAsk(kit, 'b')).toEqual({ kind: 'answered' });
  },
};
