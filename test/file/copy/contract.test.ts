/** Every case of the contract, whose end is copied from the embedded backend to Redis, and back. */
import { deepStrictEqual } from 'node:assert/strict';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { storeFromRedis, storeToRedis } from '../../../src/backends/copy/copy.ts';
import { readOver } from '../../../src/backends/memory/step-end.ts';
import { redisForTests } from '../../../src/backends/redis/manual-time.ts';
import type { Clock, Timer } from '../../../src/base/time.ts';
import { describeBackend, type Harness } from '../../../src/testing/backend-contract.ts';
import { backendOver, type StoredBackend } from '../../support/copies.ts';
import { rounds } from '../../support/rounds.ts';
import { AT_SCALE, someCases } from '../../support/some-cases.ts';
import { visible } from '../../support/visible.ts';

/** The first moment of every test; any that is well past the epoch. */
const START = Date.UTC(2026, 0, 5, 12);

class HandClock implements Clock {
  readonly #timers = new Set<{ readonly at: number; readonly fire: () => void }>();
  #now = START;

  now(): number {
    return this.#now;
  }

  setTimer(ms: number, fire: () => void): Timer {
    const timer = { at: this.#now + Math.max(ms, 0), fire };
    this.#timers.add(timer);
    return {
      cancel: () => {
        this.#timers.delete(timer);
      },
    };
  }

  move(ms: number): void {
    this.#now += ms;
    const due = [...this.#timers].filter(({ at }) => at <= this.#now);
    for (const timer of due.toSorted((a, b) => a.at - b.at)) {
      if (this.#timers.delete(timer)) timer.fire();
    }
  }
}

let client: Redis;
let namespaces = 0;

beforeAll(() => {
  client = new Redis(inject('redisPlace'));
});

afterAll(() => {
  client.disconnect();
});

const some = someCases({ describe, it, expect }, { every: rounds(1, 12), never: AT_SCALE });

describeBackend('copied', some, async (): Promise<Harness> => {
  const clock = new HandClock();
  const source = backendOver(clock);
  return {
    backend: source.backend,
    advance: async (ms) => clock.move(ms),
    now: () => clock.now(),
    close: async () => {
      if (!source.store.closed) await mustBeCopied(source, clock);
      await source.backend.close();
    },
  };
});

async function mustBeCopied({ store, backend }: StoredBackend, clock: HandClock): Promise<void> {
  const prefix = `copied-${process.pid}-${++namespaces}`;
  const place = { client, prefix, clock: () => clock.now() };
  const before = await visible(backend, store);
  await storeToRedis(store, place);
  const redis = redisForTests(client, { prefix });
  try {
    await redis.setTime(clock.now());
    await redis.backend.open({ retention: store.retention });
    deepStrictEqual((await redis.backend.inspect.reconcile({ repair: false })).drift, []);
    deepStrictEqual(plain(await visible(redis.backend, store)), plain(before), 'on Redis');
    const back = backendOver(clock, await storeFromRedis(place, clock, readOver));
    deepStrictEqual((await back.backend.inspect.reconcile({ repair: false })).drift, []);
    deepStrictEqual(plain(await visible(back.backend, store)), plain(before), 'and back');
    await back.backend.close();
    deepStrictEqual(plain(await visible(backend, store)), plain(before), 'the source');
  } finally {
    await redis.dispose();
  }
}

/** Absent and `undefined` are equal. */
function plain(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value));
}
