/** The slot of a namespace moves to another node while it is in use, its clock first. */
import { Cluster } from 'ioredis';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { RedisClient } from '../../src/backends/redis/connection/client.ts';
import { redis } from '../../src/backends/redis/redis-backend.ts';
import { diagnose } from '../../src/cli/views/checks.ts';
import { Fairloom } from '../../src/client/client.ts';
import { silentLogger } from '../../src/logging/logger.ts';
import { task } from '../../src/workflow/task-definition.ts';
import { type RedisCluster, startCluster } from '../support/redis/redis-cluster.ts';
import { moveSlot } from '../support/redis/slot-move.ts';
import { rounds } from '../support/rounds.ts';

const PREFIX = '{moving}';
const FIRST = `${PREFIX}:clock`;
const MOVES = rounds(10, 3);

let cluster: RedisCluster;
const clients: Cluster[] = [];

beforeAll(async () => {
  cluster = await startCluster(2);
});

afterAll(async () => {
  for (const client of clients) client.disconnect();
  await cluster.stop();
});

/** What ran, and how often. */
const ran = new Map<string, number>();
const work = task('work', { retries: 5 }, async (_input: number, ctx) => {
  ran.set(ctx.taskId, (ran.get(ctx.taskId) ?? 0) + 1);
});

function loomOf(): Fairloom {
  const client = new Cluster([...cluster.nodes]);
  client.on('error', () => undefined);
  clients.push(client);
  const backend = redis(client as unknown as RedisClient, { prefix: PREFIX });
  return new Fairloom({ backend, tasks: [work], log: silentLogger });
}

/** Sends it until it is accepted: its id makes that safe. */
async function insist(loom: Fairloom, id: string, at: number): Promise<void> {
  const options = { id, user: `u${at % 7}`, ...(at % 4 === 0 ? { delay: '300ms' as const } : {}) };
  for (;;) {
    try {
      await loom.enqueue(work, at, options);
      return;
    } catch (error) {
      expect(error).toMatchObject({ code: 'BACKEND_UNAVAILABLE', retryable: true });
    }
  }
}

describe('a slot that moves', () => {
  // F101
  it('loses nothing that was accepted, and runs nothing twice', async () => {
    const [producer, server] = [loomOf(), loomOf()];
    const worker = server.worker({ concurrency: 8, lease: '5s' });
    await worker.start();
    const accepted: string[] = [];
    let isOver = false;
    const producing = (async () => {
      for (let at = 0; !isOver; at += 10) {
        const ids = Array.from({ length: 10 }, (_, more) => `t${at + more}`);
        await Promise.all(ids.map((id, more) => insist(producer, id, at + more)));
        accepted.push(...ids);
      }
    })();
    for (let move = 0; move < MOVES; move++) {
      const before = accepted.length;
      await expect.poll(() => accepted.length).toBeGreaterThan(before + 20);
      // Several calls are refused, or wait for the slot, between two transfers.
      const between = (): Promise<void> => producer.health().then(() => undefined);
      await moveSlot(cluster, { first: FIRST, order: (keys) => keys.toReversed(), between });
    }
    isOver = true;
    await producing;
    const states = async () => {
      const found = await Promise.all(accepted.map((id) => producer.tasks.get(id)));
      return new Set(found.map((one) => one?.state ?? 'missing'));
    };
    await expect.poll(states).toEqual(new Set(['finished']));
    expect([...ran].filter(([, times]) => times > 1)).toEqual([]);
    expect(accepted.filter((id) => !ran.has(id))).toEqual([]);
    expect((await producer.reconcile({ repair: false })).drift).toEqual([]);
    await server.close();
    await producer.close();
  });

  // F101
  it('is told by health and doctor, and waited out by a worker that starts', async () => {
    const [looking, server] = [loomOf(), loomOf()];
    const { id } = await looking.enqueue(work, 1);
    const moving = 'is moving the slot of this namespace to another node';
    let started: Promise<void> | undefined;
    let startedAt = 0;
    const worker = server.worker({ concurrency: 1 });
    await moveSlot(cluster, {
      first: FIRST,
      between: async (moved) => {
        const health = await looking.health();
        expect(health).toMatchObject({ isHealthy: false });
        expect(health.error).toContain(moving);
        if (moved !== 1) return;
        await expect(diagnose(looking, false)).rejects.toThrow(moving);
        await expect(looking.stats()).rejects.toMatchObject({ code: 'BACKEND_UNAVAILABLE' });
        started = worker.start().then(() => {
          startedAt = performance.now();
        });
        await new Promise<void>((resolve) => {
          const unlisten = worker.on('worker.error', () => {
            unlisten();
            resolve();
          });
        });
        expect(startedAt).toBe(0);
      },
    });
    await started;
    await expect.poll(async () => (await looking.health()).isHealthy).toBe(true);
    await expect.poll(async () => (await looking.tasks.get(id))?.state).toBe('finished');
    await server.close();
    await looking.close();
  });
});

// F101
it('a node of a Cluster by its address is refused with what to pass in its place', async () => {
  const [node] = cluster.nodes;
  const loom = new Fairloom({
    backend: redis(`redis://${node?.host}:${node?.port}`, { prefix: PREFIX }),
    tasks: [work],
    log: silentLogger,
  });
  await expect(loom.enqueue(work, 1)).rejects.toMatchObject({
    code: 'BACKEND_UNSUPPORTED',
    retryable: false,
    message: expect.stringContaining('pass a Cluster client of ioredis'),
  });
  await expect(loom.worker().start()).rejects.toMatchObject({ code: 'BACKEND_UNSUPPORTED' });
  await loom.close();
});
