/**
 * What a step of the clock by an hour does to each moment that is stored, on and back. The table in
 * docs/durability.md has the same rows.
 */
import type { Cases } from './cases.ts';
import type { Kit } from './kit.ts';

const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;

/** One kind of a stored moment. */
interface Moment {
  /** Stores one that is a minute ahead, or spends what a limit allows. */
  readonly store: (kit: Kit) => Promise<void>;
  /** Whether what waited for it goes on. */
  readonly hasCome: (kit: Kit) => Promise<boolean>;
  /** Whether it goes on once the clock has gone back by an hour, and a minute has passed since. */
  readonly isBoundAfterStepBack: boolean;
}

const RATE = { limit: 1, perMs: MINUTE_MS, burst: 1 };

async function spend(kit: Kit): Promise<void> {
  await kit.add({ id: 'first' });
  await kit.add({ id: 'next' });
  await kit.runToEnd('first');
}

const isLeased = async (kit: Kit): Promise<boolean> => (await kit.leaseIds(1)).length === 1;

const MOMENTS: Readonly<Record<string, Moment>> = {
  'the rate of a user': {
    store: async (kit) => {
      await kit.setUser('ann', { rate: RATE });
      await spend(kit);
    },
    hasCome: isLeased,
    isBoundAfterStepBack: true,
  },
  'the rate of a queue': {
    store: async (kit) => {
      await kit.setQueue({ rate: RATE });
      await spend(kit);
    },
    hasCome: isLeased,
    isBoundAfterStepBack: true,
  },
  'a delay': {
    store: async (kit) => {
      await kit.add({ id: 'a', delayMs: MINUTE_MS });
    },
    hasCome: async (kit) => (await kit.state('a')) === 'queued',
    isBoundAfterStepBack: false,
  },
  'a time to start': {
    store: async (kit) => {
      await kit.add({ id: 'a', expiresInMs: MINUTE_MS });
    },
    hasCome: async (kit) => (await kit.state('a')) === 'failed',
    isBoundAfterStepBack: false,
  },
  'the deadline of a wait': {
    store: async (kit) => {
      await kit.add({ id: 'a' });
      await kit.settle(await kit.leaseOne(), {
        type: 'suspend',
        waitFor: [],
        wakeOn: 'all',
        wait: { for: { kind: 'time' }, entry: '=s:1/' },
        wakeAfterMs: MINUTE_MS,
      });
    },
    hasCome: async (kit) => (await kit.state('a')) === 'queued',
    isBoundAfterStepBack: false,
  },
  'a key with a time': {
    store: async (kit) => {
      const idempotency = { key: 'k', policy: 'return', ttlMs: MINUTE_MS } as const;
      await kit.runToEnd(await kit.add({ idempotency }));
    },
    hasCome: async (kit) => {
      const idempotency = { key: 'k', policy: 'return', ttlMs: MINUTE_MS } as const;
      return (await kit.sendOne({ idempotency })).kind === 'created';
    },
    isBoundAfterStepBack: false,
  },
};

/** Each moment, after a step of the clock. */
export const clockJumps: Cases = Object.fromEntries(
  Object.entries(MOMENTS).flatMap(([what, { store, hasCome, isBoundAfterStepBack }]) => [
    // F97
    [
      `${what} has come after a step on by an hour`,
      async (kit: Kit, expect: Kit['expect']) => {
        await store(kit);
        expect(await hasCome(kit)).toBe(false);
        await kit.shift(HOUR_MS);
        await kit.rest();
        expect(await hasCome(kit)).toBe(true);
      },
    ],
    // F97
    [
      `${what} ${isBoundAfterStepBack ? 'is no further ahead than it allows' : 'waits for its moment'} after a step back by an hour`,
      async (kit: Kit, expect: Kit['expect']) => {
        await store(kit);
        await kit.shift(-HOUR_MS);
        await kit.rest();
        expect(await hasCome(kit)).toBe(false);
        await kit.advance(MINUTE_MS + 1_000);
        expect(await hasCome(kit)).toBe(isBoundAfterStepBack);
        if (isBoundAfterStepBack) return;
        await kit.jump(HOUR_MS);
        expect(await hasCome(kit)).toBe(true);
      },
    ],
  ]),
);
