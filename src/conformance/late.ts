/**
 * What comes after a deadline that no maintenance has looked at: the clock of the store decides, not the next tick.
 * Each place where something comes to a task that waits stands in {@link LATE} once.
 */

import { LIMITS } from '../domain/limits.ts';
import type { Leased } from '../domain/port/backend.ts';
import { ANSWER, readAnswer, type WaitAnswer, type WaitTarget } from '../domain/task/wait.ts';
import type { Cases } from './cases.ts';
import { type Kit, REFUSING_EDGES } from './kit.ts';

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

/** What a lease comes to that maintenance has not ended yet. */
const DEAD = 3_000;

/** So many steps of maintenance end what is over, at most; a lease that gives nothing says that there is more. */
async function leaseAll(kit: Kit, limit = 10): Promise<readonly string[]> {
  const ids: string[] = [];
  for (let calls = 0; calls < DEAD; calls++) {
    const { leases, more } = await kit.leaseReply({ limit });
    ids.push(...leases.map(({ id }) => id));
    if (leases.length === 0 && !more) return ids;
  }
  return ids;
}

/** Tasks whose time to start is over never start, and hold up no others. */
export const neverStarted: Cases = {
  // F81
  'thousands whose time to start is over do not start, also in a queue that was paused': async (
    kit,
    expect,
  ) => {
    await kit.setQueue({ paused: true });
    const dead = await kit.addMany(DEAD, { expiresInMs: 100 });
    const alive = await kit.addMany(3);
    await kit.shift(5_000);
    await kit.setQueue({ paused: false });
    expect(await leaseAll(kit)).toEqual(alive);
    expect(new Set(await kit.states(dead))).toEqual(new Set(['failed']));
    expect(await kit.record(dead[0] ?? '')).toMatchObject({ cause: { type: 'expired' } });
  },

  // F81
  'one step ends a bounded number of them, and says that there are more': async (kit, expect) => {
    await kit.addMany(500, { expiresInMs: 100 });
    await kit.shift(1_000);
    const reply = await kit.leaseReply({ limit: 10 });
    expect(reply).toMatchObject({ leases: [], more: true });
    const { counts } = await kit.stats();
    expect(counts.failed).toBeGreaterThan(50);
    expect(counts.failed).toBeLessThan(200);
  },

  // F81
  'they use up no turn, no rate of their user or queue, and no place': async (kit, expect) => {
    const rate = { limit: 1, perMs: 30_000, burst: 1 };
    await kit.setUser('ann', { rate, maxRunning: 1 });
    await kit.setQueue({ rate: { limit: 2, perMs: 30_000, burst: 2 }, maxRunning: 2 });
    await kit.addMany(200, { expiresInMs: 100 });
    const own = await kit.add();
    const other = await kit.add({ user: 'bob' });
    await kit.shift(1_000);
    expect(new Set(await leaseAll(kit))).toEqual(new Set([own, other]));
    expect(await kit.user('ann')).toMatchObject({ running: 1, queued: 0 });
  },

  // F81
  'one that is parked or of an unknown name does not start when its worker comes': async (
    kit,
    expect,
  ) => {
    const dead = await kit.addMany(120, { name: 'other', expiresInMs: 1_000 });
    await leaseAll(kit);
    await kit.shift(2_000);
    await kit.worker('v', { names: ['other'] });
    const reply = await kit.leaseReply({ worker: 'v', limit: 10 });
    expect(reply.leases).toEqual([]);
    await kit.rest();
    expect(new Set(await kit.states(dead))).toEqual(new Set(['failed']));
  },

  // F81
  'a key of one whose time is over is free, by every policy': async (kit, expect) => {
    for (const policy of ['return', 'reject', 'replace-queued', 'run-once-more'] as const) {
      const idempotency = { key: `k-${policy}`, policy };
      await kit.addMany(100, { expiresInMs: 90 });
      const dead = await kit.add({ idempotency, expiresInMs: 100 });
      await kit.shift(200);
      expect(await kit.sendOne({ idempotency })).toMatchObject({ kind: 'created' });
      expect(await kit.state(dead)).toBe('failed');
    }
  },

  // F81
  'one that an enqueue ends tells its dependents in that step, with any outcome of the items':
    async (kit, expect) => {
      const waitEnds = async (atomic: boolean, kind: 'created' | 'existing' | 'refused') => {
        const idempotency = { key: kit.fresh('k'), policy: 'return' } as const;
        const owner = kit.task({ idempotency, expiresInMs: 100 });
        await kit.add(owner);
        const edges = { ...REFUSING_EDGES, onFailure: 'cancel' } as const;
        const follows = await kit.add({ dependsOn: [owner.id], edges });
        await kit.add({ dependsOn: [owner.id], join: true });
        await kit.shift(200);
        const dependsOn = kind === 'refused' ? ['never'] : [];
        const item = kind === 'existing' ? owner : kit.task({ idempotency, dependsOn });
        const [reply] = await kit.backend.tasks.enqueue([item], { atomic });
        expect(reply).toMatchObject({ kind });
        expect(await kit.states([owner.id, follows])).toEqual(['failed', 'canceled']);
        return kit.now() + LIMITS.waitMaxMs;
      };
      for (const atomic of [true, false]) {
        const moments = [
          await waitEnds(atomic, 'existing'),
          await waitEnds(atomic, 'refused'),
          await waitEnds(atomic, 'created'),
        ];
        expect((await kit.backend.tasks.tick()).nextDueAt).toBe(moments[0]);
        await kit.jump(2 * LIMITS.waitMaxMs);
      }
    },

  // F81
  'those whose time is over leave room for others': async (kit, expect) => {
    await kit.setUser('ann', { maxQueued: 3 });
    await kit.addMany(3, { expiresInMs: 100 });
    expect(await kit.sendOne()).toMatchObject({ refusal: { type: 'queue-full' } });
    await kit.shift(100);
    expect(await kit.sendOne()).toMatchObject({ kind: 'created' });
  },

  // F81
  'a join whose time is over when its last dependency ends has expired': async (kit, expect) => {
    const first = await kit.add();
    const given = await kit.leaseOne();
    const join = await kit.add({ join: true, dependsOn: [first], expiresInMs: 1_000 });
    await kit.shift(2_000);
    await kit.finish(given);
    expect(await kit.record(join)).toMatchObject({ state: 'failed', cause: { type: 'expired' } });
    const later = await kit.add({ join: true, delayMs: 1_000, expiresInMs: 1_000 });
    await kit.shift(5_000);
    await kit.rest();
    expect(await kit.record(later)).toMatchObject({ state: 'failed', cause: { type: 'expired' } });
  },
};
