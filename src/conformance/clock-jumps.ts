/**
 * What a step of the clock by an hour does to each moment that is stored, on and back. A kind is a row of the table in
 * docs/durability.md: `test/tidy/docs/clock-table.test.ts` holds them against each other.
 */
import { LIMITS } from '../domain/limits.ts';
import type { Suspension } from '../domain/port/leasing.ts';
import { type Case, type Cases, type Run, retaining } from './cases.ts';
import {
  ENTRY,
  EVENT,
  GRAPH,
  HOUR_MS,
  type Jump,
  KNOWN_NAME,
  LEASE,
  LOCK,
  MINUTE_MS,
  SERIES,
  SLOT,
  STREAM,
  TURN,
  WORKER,
} from './clock-jump-cases.ts';
import { type Kit, LEASE_MS, REFUSING_EDGES } from './kit.ts';

/** A moment of the usual sort. */
interface Moment {
  /** Stores one that is a minute ahead, or spends what a limit allows. */
  readonly store: (kit: Kit) => Promise<unknown>;
  /** Whether what waited for it goes on. */
  readonly hasCome: (kit: Kit) => Promise<boolean>;
  /** Whether it goes on once the clock has gone back by an hour, and a minute has passed since. */
  readonly isBound?: true;
}

function jumpsOf({ store, hasCome, isBound }: Moment): Jump {
  return {
    on: async (kit, expect) => {
      await store(kit);
      expect(await hasCome(kit)).toBe(false);
      await kit.shift(HOUR_MS);
      await kit.rest();
      expect(await hasCome(kit)).toBe(true);
    },
    back: async (kit, expect) => {
      await store(kit);
      await kit.shift(-HOUR_MS);
      await kit.rest();
      expect(await hasCome(kit)).toBe(false);
      await kit.advance(MINUTE_MS + 1_000);
      expect(await hasCome(kit)).toBe(isBound === true);
      if (isBound) return;
      await kit.jump(HOUR_MS);
      expect(await hasCome(kit)).toBe(true);
    },
  };
}

const isLeased = async (kit: Kit): Promise<boolean> => (await kit.leaseIds(1)).length === 1;

const isIn =
  (state: string, id = 'a') =>
  async (kit: Kit): Promise<boolean> =>
    (await kit.state(id)) === state;

const RATE = { limit: 1, perMs: MINUTE_MS, burst: 1 };

async function spend(kit: Kit): Promise<void> {
  await kit.add({ id: 'first' });
  await kit.add({ id: 'next' });
  await kit.runToEnd('first');
}

/** A task that is suspended, and goes on after a minute by itself. */
function suspended(more: Partial<Suspension>): (kit: Kit) => Promise<void> {
  return async (kit) => {
    await kit.add({ id: 'a' });
    const leased = await kit.leaseOne();
    await kit.add({ id: 'other', delayMs: 30 * 24 * HOUR_MS });
    const suspension = { waitFor: [], wakeOn: 'all', wakeAfterMs: MINUTE_MS, ...more } as const;
    const answer = await kit.settle(leased, { type: 'suspend', ...suspension });
    kit.expect(answer).toMatchObject({ kind: 'ok', state: 'deferred' });
  };
}

const QUESTION = { id: 'a.m1', choices: ['yes', 'no'], for: [], text: '{"title":"?"}' };

/** Calls under such a key make one task. */
function keyed(idempotency: Parameters<Kit['task']>[0] & object): Moment {
  return {
    store: async (kit) => kit.runToEnd(await kit.add(idempotency)),
    hasCome: async (kit) => (await kit.sendOne(idempotency)).kind === 'created',
  };
}

const DEBOUNCE = { idempotency: { key: 'd', policy: 'debounce', waitMs: MINUTE_MS } } as const;

const PLACE = { user: 'ann', namespace: 'default', key: 'k' };

const hasValue = async (kit: Kit): Promise<boolean> =>
  (await kit.backend.xcom.read([PLACE]))[0] !== undefined;

/** Row of the table → what differs within it → what a step does. */
export const CLOCK_JUMPS: Readonly<Record<string, Readonly<Record<string, Jump>>>> = {
  'rate of a user or queue': {
    'of a user': jumpsOf({
      store: async (kit) => {
        await kit.setUser('ann', { rate: RATE });
        await spend(kit);
      },
      hasCome: isLeased,
      isBound: true,
    }),
    'of a queue': jumpsOf({
      store: async (kit) => {
        await kit.setQueue({ rate: RATE });
        await spend(kit);
      },
      hasCome: isLeased,
      isBound: true,
    }),
  },

  'delay, `executeAfter`, pause before a retry': {
    delay: jumpsOf({
      store: (kit) => kit.add({ id: 'a', delayMs: MINUTE_MS }),
      hasCome: isIn('queued'),
    }),
    executeAfter: jumpsOf({
      store: (kit) => kit.add({ id: 'a', executeAfter: kit.now() + MINUTE_MS }),
      hasCome: isIn('queued'),
    }),
    retry: jumpsOf({
      store: async (kit) => {
        await kit.add({ id: 'a' });
        await kit.retry(await kit.leaseOne(), MINUTE_MS);
      },
      hasCome: isIn('queued'),
    }),
    release: jumpsOf({
      store: async (kit) => {
        await kit.add({ id: 'a' });
        await kit.release(await kit.leaseOne(), MINUTE_MS);
      },
      hasCome: isIn('queued'),
    }),
    'lost lease': jumpsOf({
      store: async (kit) => {
        await kit.add({ id: 'a' });
        for (let loss = 1; loss <= 2; loss++) {
          await kit.leaseOne();
          await kit.advance(LEASE_MS + 1);
        }
        kit.expect(await kit.state('a')).toBe('scheduled');
      },
      hasCome: isIn('queued'),
    }),
  },

  '`expiresIn`': {
    expiresIn: jumpsOf({
      store: (kit) => kit.add({ id: 'a', expiresInMs: MINUTE_MS }),
      hasCome: isIn('failed'),
    }),
  },

  'deadline of a wait, a question or a group': {
    time: jumpsOf({
      store: suspended({ wait: { for: { kind: 'time' }, entry: ENTRY } }),
      hasCome: isIn('queued'),
    }),
    signal: jumpsOf({
      store: suspended({
        wait: { for: { kind: 'signal', name: 'go', targets: ['a'] }, entry: ENTRY },
      }),
      hasCome: isIn('queued'),
    }),
    event: jumpsOf({
      store: suspended({ wait: { for: { kind: 'event', name: 'paid', key: 'k' }, entry: ENTRY } }),
      hasCome: isIn('queued'),
    }),
    question: jumpsOf({
      store: suspended({ wait: { for: { kind: 'ask', ask: QUESTION }, entry: ENTRY } }),
      hasCome: isIn('queued'),
    }),
    group: jumpsOf({ store: suspended({ waitFor: ['other'] }), hasCome: isIn('queued') }),
    'task that is missing': jumpsOf({
      store: async (kit) => {
        await kit.add({
          id: 'a',
          dependsOn: ['nowhere'],
          edges: { ...REFUSING_EDGES, onMissing: 'block' },
        });
        await kit.jump(LIMITS.waitMaxMs - MINUTE_MS);
      },
      hasCome: isIn('canceled'),
    }),
  },

  'key with a `ttl`, window of a `throttle`': {
    key: jumpsOf(keyed({ idempotency: { key: 'k', policy: 'return', ttlMs: MINUTE_MS } })),
    throttle: jumpsOf(
      keyed({
        idempotency: { key: 'k', policy: 'throttle', perMs: MINUTE_MS, trailing: false },
      }),
    ),
  },

  'wait of a `debounce`': {
    'without a call': jumpsOf({
      store: (kit) => kit.add({ id: 'a', ...DEBOUNCE }),
      hasCome: isIn('queued'),
    }),
    'with a call': {
      on: async (kit, expect) => {
        await kit.add({ id: 'a', ...DEBOUNCE });
        await kit.shift(HOUR_MS);
        expect(await kit.sendOne(DEBOUNCE)).toMatchObject({ kind: 'existing', replaced: true });
        await kit.advance(MINUTE_MS);
        expect(await kit.leaseIds(2)).toEqual(['a']);
      },
      back: async (kit, expect) => {
        await kit.add({ id: 'a', ...DEBOUNCE });
        await kit.shift(-HOUR_MS);
        expect(await kit.sendOne(DEBOUNCE)).toMatchObject({ kind: 'existing', replaced: true });
        await kit.advance(MINUTE_MS);
        expect(await kit.leaseIds(2)).toEqual(['a']);
      },
    },
  },

  lease: {
    lease: LEASE,
  },

  'sign of life of a worker': {
    worker: WORKER,
  },

  'task of a name that no worker knows': {
    'known to one that lives': KNOWN_NAME,
    'known to none': jumpsOf({
      store: async (kit) => {
        await kit.add({ id: 'a', name: 'strange' });
        for (let more = true; more; ) more = (await kit.leaseReply()).more;
        await kit.jump(LIMITS.unknownTaskMs - MINUTE_MS);
      },
      hasCome: async (kit) => {
        await kit.advance(LIMITS.outagePauseMs);
        return (await kit.state('a')) === 'failed';
      },
    }),
  },

  'slot of a schedule': {
    slot: SLOT,
  },

  'lock of the schedulers': {
    lock: LOCK,
  },

  'event that is looked back for': {
    event: EVENT,
  },

  'turn that is charged by its time': {
    turn: TURN,
  },

  series: {
    series: SERIES,
  },

  'value of XCom': {
    value: jumpsOf({
      store: (kit) =>
        kit.backend.xcom.write([{ type: 'push', place: PLACE, text: '1', ttlMs: MINUTE_MS }]),
      hasCome: async (kit) => !(await hasValue(kit)),
    }),
  },

  'graph that nothing needs': {
    graph: GRAPH,
  },

  stream: { stream: STREAM },

  'retention of ended tasks': {
    retention: {
      ...jumpsOf({
        store: async (kit) => {
          await kit.runToEnd(await kit.add({ id: 'a' }));
          await kit.advance(HOUR_MS / 4 - MINUTE_MS);
        },
        hasCome: isIn('missing'),
      }),
      retention: { finishedMs: HOUR_MS / 4 },
    },
  },
};

/** Each moment, after a step of the clock. */
export const clockJumps: Cases = Object.fromEntries(
  Object.entries(CLOCK_JUMPS).flatMap(([row, cases]) =>
    Object.entries(cases).flatMap(([what, { on, back, retention }]) => {
      const whole = (run: Run): Run | Case =>
        retention === undefined ? run : retaining(retention, run);
      return [
        // F97
        [`${row}, ${what}: a step on by an hour`, whole(on)],
        // F97
        [`${row}, ${what}: a step back by an hour`, whole(back)],
      ];
    }),
  ),
);
