/** Every case of the contract, whose end is copied from the embedded backend to Redis, and back. */
import { deepStrictEqual } from 'node:assert/strict';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { storeToRedis } from '../../../src/backends/copy/copy.ts';
import { redisForTests } from '../../../src/backends/redis/manual-time.ts';
import { describeBackend, type Harness } from '../../../src/conformance.ts';
import { backendOver, type StoredBackend, storeOf } from '../../support/copies.ts';
import { HandClock } from '../../support/hand-clock.ts';
import { rounds } from '../../support/rounds.ts';
import { AT_SCALE, someCases } from '../../support/some-cases.ts';
import { storedFacts } from '../../support/stored-facts.ts';
import { visible } from '../../support/visible.ts';

let client: Redis;
let namespaces = 0;

beforeAll(() => {
  client = new Redis(inject('redisPlace'));
});

afterAll(() => {
  client.disconnect();
});

const some = someCases({ describe, it, expect }, { every: rounds(1, 40), never: AT_SCALE });

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
    const back = backendOver(clock, await storeOf(place, clock));
    deepStrictEqual(storedFacts(back.store), storedFacts(store), 'each fact');
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
