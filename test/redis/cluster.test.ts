/** One namespace in one slot of a Cluster of three nodes: the whole contract, and the client's way in. */
import { Cluster } from 'ioredis';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { RedisClient } from '../../src/backends/redis/connection/client.ts';
import { redisForTests } from '../../src/backends/redis/manual-time.ts';
import { redis } from '../../src/backends/redis/redis-backend.ts';
import { Fairloom } from '../../src/client/client.ts';
import { describeBackend, type Harness } from '../../src/conformance.ts';
import { task } from '../../src/workflow/task-definition.ts';
import { type RedisCluster, startCluster } from '../support/redis/redis-cluster.ts';
import { rounds } from '../support/rounds.ts';
import { AT_SCALE, someCases } from '../support/some-cases.ts';

const START = Date.UTC(2026, 0, 5, 12);

let cluster: RedisCluster;
let shared: RedisClient;
let namespaces = 0;

function connect(): RedisClient {
  const client = new Cluster([...cluster.nodes]);
  client.on('error', () => undefined);
  return client as unknown as RedisClient;
}

beforeAll(async () => {
  cluster = await startCluster();
  shared = connect();
});

afterAll(async () => {
  shared.disconnect();
  await cluster.stop();
});

/** The suite runs whole elsewhere; here every twelfth case, or all of them. */
const api = someCases({ describe, it, expect }, { every: rounds(1, 12), never: AT_SCALE });
describeBackend('redis, cluster', api, async (): Promise<Harness> => {
  const prefix = `{cluster-${process.pid}-${++namespaces}}`;
  const { backend, setTime, dispose } = redisForTests(shared, { prefix });
  let now = START;
  await setTime(now);
  return {
    backend,
    advance: async (ms) => {
      now += ms;
      await setTime(now);
    },
    now: () => now,
    close: dispose,
  };
});

it('asks for a hash tag', () => {
  expect(() => redis(shared, { prefix: 'fq' })).toThrow('a name in braces on Cluster');
});

it('serves a client and a worker, each with a connection of its own', async () => {
  const hello = task('hello', async (who: string) => `Hello, ${who}!`);
  const [one, other] = [connect(), connect()];
  const client = new Fairloom({ backend: redis(one, { prefix: '{apart}' }), tasks: [hello] });
  const server = new Fairloom({ backend: redis(other, { prefix: '{apart}' }), tasks: [hello] });
  try {
    const worker = server.worker({ concurrency: 2 });
    await worker.start();
    const greetings = await Promise.all(
      ['Ada', 'Bob', 'Cleo'].map(async (who) => {
        const handle = await client.enqueue(hello, who);
        return handle.result({ timeout: '20s' });
      }),
    );
    expect(greetings).toEqual(['Hello, Ada!', 'Hello, Bob!', 'Hello, Cleo!']);
  } finally {
    await server.close();
    await client.close();
    one.disconnect();
    other.disconnect();
  }
});

// O95.6
it('names with braces move nothing to another slot', async () => {
  const prefix = `{slot-${process.pid}}`;
  const { backend, setTime, dispose } = redisForTests(shared, { prefix });
  await setTime(START);
  const echo = task('echo', async (n: number) => n);
  const loom = new Fairloom({ backend, tasks: [echo] });
  await loom.schedules.set('s', { task: echo, input: 1, cron: '@daily', user: '{a}' });
  for (const name of ['{a}', 'b{c}d', '}{', '{}', '{{x}}', `${prefix}:task:1`, '{other}:clock']) {
    await loom.users.set(name, { weight: 2, maxQueued: 9 });
    await loom.xcom.push(name, 1, { user: name, namespace: name });
    const key = { user: name, id: `id ${name}`, idempotencyKey: name };
    const first = await loom.enqueue(echo, 1, key);
    await loom.enqueue(echo, 2, { user: name, dependsOn: [first] });
    await loom.enqueue(echo, 3, { user: name, delay: '1h' });
    await loom.enqueue(echo, 4, { user: name, debounce: { key: name, wait: '1h' } });
    expect(await loom.xcom.pull(name, { user: name, namespace: name })).toBe(1);
  }
  const slots = new Set<unknown>();
  let keys = 0;
  for (const node of (shared as unknown as Cluster).nodes('master')) {
    for (const key of await node.keys(`${prefix}:*`)) {
      keys += 1;
      slots.add(await node.call('CLUSTER', ['KEYSLOT', key]));
    }
  }
  expect(keys).toBeGreaterThan(40);
  expect(slots.size).toBe(1);
  await loom.close();
  await dispose();
});
