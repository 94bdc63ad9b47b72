/** Histories whose backend moves to another place and back, again and again: each answer stays what it would have been. */

import { deepStrictEqual } from 'node:assert/strict';
import fc from 'fast-check';
import { Redis } from 'ioredis';
import { describe, expect, inject, it } from 'vitest';
import { storeToRedis } from '../../../src/backends/copy/copy.ts';
import { redisForTests } from '../../../src/backends/redis/manual-time.ts';
import type { Clock, Timer } from '../../../src/base/time.ts';
import type { Backend } from '../../../src/domain/port/backend.ts';
import { historyOf } from '../../model/arbitraries.ts';
import { keptSeeds } from '../../model/check.ts';
import { Harness, newCounters, RETENTION, START_MS, type Subject } from '../../model/harness.ts';
import type { Step } from '../../model/steps.ts';
import { backendOver, type StoredBackend, storeOf } from '../../support/copies.ts';
import { rounds } from '../../support/rounds.ts';
import { storedFacts } from '../../support/stored-facts.ts';

const SEED = 20_261_130;

/** Workers, and schedulers, of histories. */
const WORKERS = [0, 1, 2, 3, 4];

/** By age alone: how soon too many of a kind go is the backend's own affair. */
const BY_AGE = {
  finishedMs: RETENTION.finishedMs,
  failedMs: RETENTION.failedMs,
  canceledMs: RETENTION.canceledMs,
};

/** Stands still until it is set. */
class StillClock implements Clock {
  #ms = START_MS;

  now(): number {
    return this.#ms;
  }

  set(ms: number): void {
    this.#ms = ms;
  }

  setTimer(): Timer {
    return { cancel: () => undefined };
  }
}

let namespaces = 0;

/** A backend that is somewhere else after each `flush`. */
class Mover implements Subject {
  readonly name = 'moving';
  readonly retention = BY_AGE;
  readonly #clock = new StillClock();
  readonly #client: Redis;
  #memory: StoredBackend | undefined;
  #redis: ReturnType<typeof redisForTests> | undefined;
  #prefix = '';
  moves = 0;

  constructor(client: Redis) {
    this.#client = client;
    this.#memory = backendOver(this.#clock);
    this.#memory.store.retention = BY_AGE;
  }

  get backend(): Backend {
    const found = this.#memory?.backend ?? this.#redis?.backend;
    if (found === undefined) throw new Error('it is nowhere');
    return found;
  }

  async setClock(ms: number): Promise<void> {
    this.#clock.set(ms);
    await this.#redis?.setTime(ms);
  }

  async flush(): Promise<void> {
    this.moves++;
    if (this.#memory === undefined) await this.#toMemory();
    else await this.#toRedis(this.#memory);
    expect(
      (await this.backend.inspect.reconcile({ repair: false })).drift,
      'drift behind the move',
    ).toEqual([]);
  }

  async close(): Promise<void> {
    await this.#memory?.backend.close();
    await this.#redis?.dispose();
  }

  async #toRedis({ store, backend }: StoredBackend): Promise<void> {
    this.#prefix = `moves-${process.pid}-${++namespaces}`;
    const clock = (): number => this.#clock.now();
    const place = { client: this.#client, prefix: this.#prefix, clock };
    await storeToRedis(store, place);
    deepStrictEqual(storedFacts(await storeOf(place, this.#clock)), storedFacts(store), 'and back');
    this.#redis = redisForTests(this.#client, { prefix: this.#prefix });
    await this.#redis.setTime(this.#clock.now());
    await this.#redis.backend.open({ retention: BY_AGE });
    this.#memory = undefined;
    await backend.close();
  }

  async #toMemory(): Promise<void> {
    const clock = (): number => this.#clock.now();
    const place = { client: this.#client, prefix: this.#prefix, clock };
    const store = await storeOf(place, this.#clock);
    store.retention = BY_AGE;
    this.#memory = backendOver(this.#clock, store);
    await this.#redis?.dispose();
    this.#redis = undefined;
  }
}

/** Steps that leave workers behind that are never unregistered. */
const LEFT_OUT: ReadonlySet<Step['type']> = new Set(['crowd', 'flush', 'lose']);

/** The history with moves in it: before each no worker is alive, and no scheduler. */
function withMoves(steps: readonly Step[], every: number): readonly Step[] {
  const rest: readonly Step[] = [
    ...WORKERS.map((worker): Step => ({ type: 'unregister', worker })),
    ...WORKERS.map((owner): Step => ({ type: 'leaveSchedules', owner })),
    { type: 'flush' },
  ];
  return steps
    .filter(({ type }) => !LEFT_OUT.has(type))
    .flatMap((step, at) => (at % every === every - 1 ? [step, ...rest] : [step]));
}

async function replay(client: Redis, steps: readonly Step[]): Promise<number> {
  const mover = new Mover(client);
  try {
    await new Harness([mover], newCounters()).run(steps);
  } finally {
    await mover.close();
  }
  return mover.moves;
}

async function connected(act: (client: Redis) => Promise<void>): Promise<void> {
  const client = new Redis(inject('redisPlace'));
  try {
    await act(client);
  } finally {
    client.disconnect();
  }
}

describe('a backend that moves', () => {
  it('answers on as it would have done', () =>
    connected(async (client) => {
      const runs = Number(process.env['FAIRLOOM_MOVES'] ?? rounds(400, 6));
      const seed = Number(process.env['FAIRLOOM_MOVES_SEED'] ?? SEED);
      const path = process.env['FAIRLOOM_MOVES_PATH'];
      const property = fc.asyncProperty(
        historyOf(60),
        fc.integer({ min: 3, max: 15 }),
        async (steps, every) => {
          await replay(client, withMoves(steps, every));
        },
      );
      const details = await fc.check(property, {
        numRuns: runs,
        seed,
        ...(path === undefined ? {} : { path }),
        endOnFailure: process.env['FAIRLOOM_MOVES_SHRINK'] === undefined,
      });
      const error = details.errorInstance;
      const text = error instanceof Error ? (error.stack ?? error.message) : undefined;
      expect(
        text,
        `path ${details.counterexamplePath}\n${JSON.stringify(details.counterexample)}`,
      ).toBe(undefined);
    }));

  it('does so in histories that failed once', () =>
    connected(async (client) => {
      for (const { note, steps } of keptSeeds()) {
        const moves = await replay(client, withMoves(steps, 7));
        expect(moves, note).toBeGreaterThan(-1);
      }
    }));
});
