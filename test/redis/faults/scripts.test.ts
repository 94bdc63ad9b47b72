/** A server that forgets scripts and functions, between any two calls and within a pipeline, or that has no functions. */
import { Redis } from 'ioredis';
import { describe, expect, inject, it } from 'vitest';
import type { RedisClient } from '../../../src/backends/redis/connection/client.ts';
import { redisForTests } from '../../../src/backends/redis/manual-time.ts';
import { describeBackend, type Harness } from '../../../src/conformance.ts';
import { rounds } from '../../support/rounds.ts';
import { AT_SCALE, someCases } from '../../support/some-cases.ts';
import { adminOf, atEnd, freshPrefix, kitOn, ownServer, proxyTo } from './kit.ts';

/** What a server answers to a command that it does not run. */
const REFUSALS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'has forgotten everything before every call': {
    EVALSHA: 'NOSCRIPT No matching script. Please use EVAL.',
    FCALL: 'ERR Function not found',
  },
  'has no functions': { FCALL: "ERR unknown command 'FCALL', with args beginning with: 'f' " },
  'lets the account call no function': {
    FCALL: "NOPERM User fairloom has no permissions to run the 'fcall' command",
  },
};

// O95.1
describe('a server that', () => {
  it.each(Object.entries(REFUSALS))('%s runs every call of the port', async (what, refusals) => {
    const admin = adminOf();
    const proxy = await proxyTo();
    const kit = await kitOn(proxy.url);
    let refused = 0;
    proxy.setRule(([name = '']) => {
      const reply = refusals[name.toUpperCase()];
      if (reply === undefined) return undefined;
      refused += 1;
      return { type: 'answer', reply: `-${reply}\r\n` };
    });
    const { tasks, inspect, users, queues, workers } = kit.backend;
    const id = await kit.add({ idempotency: { key: 'k', policy: 'return' } });
    await kit.send({}, { dependsOn: [id] }, { delayMs: 60_000 });
    await kit.send(...Array.from({ length: 600 }, () => ({ user: 'many' })));
    const leased = await kit.leaseOne();
    await tasks.extend({ worker: 'w', leaseMs: 60_000, leases: [leased] });
    expect(await kit.finish(leased)).toMatchObject({ kind: 'ok' });
    const failed = await kit.leaseOne();
    await kit.fail(failed);
    expect(await tasks.redrive(failed.id)).toMatchObject({ kind: 'ok' });
    expect(await kit.cancel(failed.id)).toMatchObject({ kind: 'canceled' });
    expect(await tasks.remove(failed.id)).toMatchObject({ kind: 'ok' });
    const late = await kit.add({ delayMs: 60_000 });
    expect(await tasks.runNow(late)).toMatchObject({ kind: 'ok' });
    await tasks.tick();
    await kit.setUser('ann', { weight: 200 });
    await kit.setQueue({ maxRunning: 5 });
    expect(await users.get('ann', 'default')).toMatchObject({ user: 'ann' });
    expect((await users.list('default', { limit: 10 })).items.length).toBeGreaterThan(0);
    expect(await queues.get('default')).toMatchObject({ queue: 'default' });
    expect((await queues.list()).length).toBeGreaterThan(0);
    expect((await workers.list()).map(({ id }) => id)).toEqual(['w']);
    expect((await inspect.get([id])).map((record) => record?.state)).toEqual(['finished']);
    expect(await inspect.attempts(id)).toBeDefined();
    expect((await inspect.list({ state: 'finished' }, { limit: 5 })).items).toHaveLength(1);
    expect(await inspect.facts(id)).toBeDefined();
    expect(await inspect.runnable('default')).toBeGreaterThan(0);
    expect((await inspect.stats()).totals.finished).toBe(1);
    expect((await inspect.reconcile({ repair: false })).drift).toEqual([]);
    await workers.unregister('w');
    // That there are no functions is remembered; what an account may do may change.
    if (what === 'has no functions') expect(refused).toBe(1);
    else expect(refused).toBeGreaterThan(25);
    expect(await admin.ping()).toBe('PONG');
  });

  it('has no functions is asked for one again on the next connection only', async () => {
    const proxy = await proxyTo();
    const kit = await kitOn(proxy.url);
    const asked: string[] = [];
    let isOld = true;
    proxy.setRule(([name = '']) => {
      const isFunction = name.toUpperCase() === 'FCALL';
      if (isFunction || name.toUpperCase() === 'EVALSHA') asked.push(name.toUpperCase());
      if (!isFunction || !isOld) return undefined;
      return {
        type: 'answer',
        reply: '-ERR unknown command `FCALL`, with args beginning with: \r\n',
      };
    });
    const tick = async (): Promise<readonly string[]> => {
      asked.length = 0;
      await kit.backend.tasks.tick();
      return asked.slice();
    };
    expect(await tick()).toEqual(['FCALL', 'EVALSHA']);
    expect(await tick()).toEqual(['EVALSHA']);
    isOld = false;
    expect(await tick()).toEqual(['EVALSHA']);
    proxy.cut();
    await expect.poll(() => tick().catch(() => [])).toContain('FCALL');
    expect(await tick()).toEqual(['FCALL']);
  });

  it('forgets while a hundred calls at a time are in flight', async () => {
    const { url } = await ownServer();
    const admin = adminOf(url);
    const kit = await kitOn(url);
    let stop = false;
    const flushing = (async () => {
      for (let count = 0; !stop; count++) {
        await admin.script('FLUSH');
        await admin.function('FLUSH');
        if (count % 2 === 0) await new Promise((resolve) => setTimeout(resolve, 5));
      }
    })();
    atEnd(() => {
      stop = true;
    });
    for (let round = 0; round < 8; round++) {
      await Promise.all(Array.from({ length: 100 }, () => kit.add()));
      const leases = await kit.leaseMany(100);
      await Promise.all(leases.map((leased) => kit.finish(leased)));
    }
    stop = true;
    await flushing;
    expect((await kit.stats()).totals).toMatchObject({ enqueued: 800, finished: 800, lost: 0 });
  });
});

/** A client of a server that has no functions. */
function withoutFunctions(client: RedisClient): RedisClient {
  const call = client.call.bind(client);
  return Object.assign(client, {
    call: (command: string, args: (string | number)[]): Promise<unknown> => {
      if (command !== 'FCALL') return call(command, args);
      return Promise.reject(new Error("ERR unknown command 'FCALL'"));
    },
  });
}

/** The suite runs whole elsewhere. */
const api = someCases(
  { describe, it, expect },
  { every: rounds(1, 12), always: /reconcile|damage/, never: AT_SCALE },
);

describeBackend('redis without functions', api, async (): Promise<Harness> => {
  const client = new Redis(inject('redisUrl')) as unknown as RedisClient;
  const manual = redisForTests(withoutFunctions(client), { prefix: freshPrefix() });
  let now = Date.UTC(2026, 0, 5, 12);
  const advance = async (ms: number): Promise<void> => {
    now += ms;
    await manual.setTime(now);
  };
  await advance(0);
  return {
    backend: manual.backend,
    advance,
    now: () => now,
    close: async () => {
      await manual.dispose();
      client.disconnect();
    },
  };
});
