/** Behind sentinels: when the master dies, a replica takes over and work goes on by itself. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { redis } from '../../src/backends/redis/redis-backend.ts';
import { Fairloom } from '../../src/client/client.ts';
import { task } from '../../src/workflow/task-definition.ts';
import { MASTER, type RedisSentinels, startSentinels } from '../support/redis/redis-cluster.ts';

let fleet: RedisSentinels;

beforeAll(async () => {
  fleet = await startSentinels();
});

afterAll(async () => {
  await fleet.stop();
});

it('goes on with the new master after a failover', async () => {
  const double = task('double', async (n: number) => 2 * n);
  const target = { sentinels: fleet.sentinels, name: MASTER };
  const client = new Fairloom({ backend: redis(target), tasks: [double] });
  const server = new Fairloom({ backend: redis(target), tasks: [double] });
  try {
    await server.worker({ concurrency: 2 }).start();
    const before = await client.enqueue(double, 1);
    expect(await before.result({ timeout: '20s' })).toBe(2);
    await fleet.master.kill();
    await fleet.promoted();
    const after = await eventually(() => client.enqueue(double, 21, { id: 'after' }));
    expect(await eventually(() => after.result({ timeout: '20s' }))).toBe(42);
  } finally {
    await server.close({ timeout: 5_000 });
    await client.close({ timeout: 5_000 });
  }
});

/** Clients fail fast, so the caller tries again; the id makes that safe. */
async function eventually<T>(act: () => Promise<T>): Promise<T> {
  for (let attempt = 0; ; attempt++) {
    try {
      return await act();
    } catch (error) {
      if (attempt >= 60) throw error;
      await new Promise((resolve) => setTimeout(resolve, 500));
    }
  }
}
