/** The backends that a history can be run against, each with its time set by hand. */

import { Redis } from 'ioredis';
import { memory } from '../../src/backends/memory/memory-backend.ts';
import { redisForTests } from '../../src/backends/redis/manual-time.ts';
import type { Clock, Timer } from '../../src/base/time.ts';
import type { Retention } from '../../src/domain/fairness/settings.ts';
import { LIMITS } from '../../src/domain/limits.ts';
import { dyingBackend } from '../support/file/disk-backend.ts';
import { reopenedMemory } from '../support/file/reopened.ts';
import { type RedisPlace, startRedis } from '../support/redis/redis-server.ts';
import type { Open } from './check.ts';
import { RETENTION, START_MS, type Subject } from './harness.ts';

/** Stands still; nothing in a history waits for a timer but for that. */
class StillClock implements Clock {
  #ms = 0;
  /** Everybody has read what has ended once time moves. */
  readonly #read: (() => void)[] = [];

  now(): number {
    return this.#ms;
  }

  set(ms: number): void {
    this.#ms = ms;
    for (const fire of this.#read.splice(0)) fire();
  }

  setTimer(ms: number, fire: () => void): Timer {
    if (ms === LIMITS.readMs) this.#read.push(fire);
    return { cancel: () => undefined };
  }
}

export async function memorySubject(retention: Retention): Promise<Subject> {
  const clock = new StillClock();
  const backend = memory({ clock });
  await backend.open({ retention });
  return {
    name: 'memory',
    backend,
    retention,
    setClock: (ms) => clock.set(ms),
    close: () => backend.close(),
  };
}

/** Memory whose state is written and read again, each so many calls. */
export async function reopenedSubject(every: number, retention = RETENTION): Promise<Subject> {
  const clock = new StillClock();
  const { backend } = reopenedMemory(clock, every);
  await backend.open({ retention });
  return {
    name: 'memory, reopened',
    backend,
    retention,
    setClock: (ms) => clock.set(ms),
    close: () => backend.close(),
  };
}

/** Where too many of a kind go after a minute. */
export const BY_AGE: Retention = {
  finishedMs: RETENTION.finishedMs,
  failedMs: RETENTION.failedMs,
  canceledMs: RETENTION.canceledMs,
};

/** Data on a disk whose owner dies before every call, and loses the power every second time. */
async function fileSubject(retention: Retention): Promise<Subject> {
  const clock = new StillClock();
  clock.set(START_MS);
  const backend = dyingBackend({ clock, every: 1 });
  await backend.open({ retention });
  return {
    name: 'file',
    backend,
    retention,
    setClock: (ms) => clock.set(ms),
    close: () => backend.close(),
  };
}

export type Which = 'memory' | 'file' | 'redis' | 'both';

let namespaces = 0;

/** A namespace of its own on a server that others use too; gone when it is closed. */
async function redisSubject(
  place: RedisPlace,
  client: Redis,
  retention: Retention,
): Promise<Subject> {
  namespaces += 1;
  const prefix = `model-${process.pid}-${namespaces}`;
  const { backend, setTime, dispose } = redisForTests(place, { prefix });
  await setTime(START_MS);
  await backend.open({ retention });
  return {
    name: 'redis',
    backend,
    retention,
    setClock: setTime,
    flush: async () => {
      await client.script('FLUSH');
    },
    residue: async () => {
      const keys = (await client.keys(`${prefix}:*`)).map((key) => key.slice(prefix.length + 1));
      const ending = await Promise.all(
        keys.map(async (key) => KEPT.test(key) && (await client.pttl(`${prefix}:${key}`)) > 0),
      );
      return keys.filter((key, at) => !LASTING.test(key) && !ending[at]);
    },
    close: dispose,
  };
}

/** May outlive its owner, by its own time; the server's clock ends it, which no test moves. */
const KEPT = /^(key|graph|graphmeta|events|error-groups?):/;

/** What a namespace keeps for ever: clock, counters, settings of queues, and the latest fence. */
const LASTING =
  /^(clock|clock-by-hand|meta|queues|names|fair|queue:\w+:fair|scheduler:lock|series-totals)$/;

/** Opens fresh subjects for each history; `close` ends what they share. */
export async function openerOf(
  which: Which,
  given: RedisPlace | undefined,
): Promise<{ readonly open: Open; readonly close: () => Promise<void> }> {
  if (which === 'memory') {
    return { open: async () => [await memorySubject(RETENTION)], close: async () => undefined };
  }
  if (which === 'file') {
    return { open: async () => [await fileSubject(BY_AGE)], close: async () => undefined };
  }
  const server = given === undefined ? await startRedis() : undefined;
  const place = given ?? (server === undefined ? {} : { path: server.socket });
  const client = new Redis(place);
  const open = async (): Promise<readonly Subject[]> => {
    if (which === 'redis') return [await redisSubject(place, client, RETENTION)];
    // Too many of a kind go at once here, and after a minute there: together, by age alone.
    return [await memorySubject(BY_AGE), await redisSubject(place, client, BY_AGE)];
  };
  const close = async (): Promise<void> => {
    client.disconnect();
    await server?.stop();
  };
  return { open, close };
}
