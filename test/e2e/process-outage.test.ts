/** Redis away while worker processes run: `kill -9` of a server that writes to disk at once. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type FaultProxy, startFaultProxy } from '../support/redis/fault-proxy.ts';
import { type RedisServer, startRedis } from '../support/redis/redis-server.ts';
import { delay, LEASE_MS, ProcessKit, slackMs } from './process-kit.ts';

/** After Redis is back, a worker must work again within this time, in ms. */
const BACK_MS = 5_000;
/** Longer than any blocking call of an idle worker, in ms. */
const LONG_MS = 8_000;

let server: RedisServer;
let proxy: FaultProxy;
let kit: ProcessKit;
beforeAll(async () => {
  server = await startRedis({ args: ['--appendonly', 'yes', '--appendfsync', 'always'] });
});
afterAll(() => server.stop());
beforeEach(async () => {
  proxy = await startFaultProxy({ port: server.port });
  kit = new ProcessKit(proxy.url);
});
afterEach(async () => {
  await kit.close();
  await proxy.close();
});

async function outage(ms: number): Promise<number> {
  await server.kill();
  await delay(ms);
  await server.restart();
  return Date.now();
}

describe('Redis is killed and comes back', () => {
  it.each([300, LONG_MS])(
    // O95.2 O15 O13
    'while workers are idle, for %d ms',
    async (ms) => {
      await kit.hire();
      const first = await kit.enqueue('work');
      await kit.ended(first);
      const back = await outage(ms);
      const task = await kit.enqueue('work');
      const { startedAt } = await kit.started(task);
      expect(startedAt - back).toBeLessThan(BACK_MS + slackMs());
      expect(await kit.ended(task)).toMatchObject({ state: 'finished' });
    },
  );

  // O15
  it('work that was there before is found without a new enqueue', async () => {
    await kit.hire({ concurrency: 1 });
    const tasks = await Promise.all([1, 2, 3].map(() => kit.enqueue('work', { ms: 100 })));
    await kit.started(tasks[0] ?? '');
    const back = await outage(500);
    for (const task of tasks) expect(await kit.ended(task)).toMatchObject({ state: 'finished' });
    expect(Date.now() - back).toBeLessThan(BACK_MS + LEASE_MS + slackMs());
  });

  // O13
  it('while workers are busy, five times: nothing is lost, nothing ends twice', async () => {
    await kit.hire();
    await kit.hire();
    const tasks: string[] = [];
    for (let round = 0; round < 5; round++) {
      for (let count = 0; count < 20; count++) tasks.push(await kit.enqueue('work', { ms: 80 }));
      await outage(200);
      // All of these may have started before Redis went: one more shows that consuming goes on.
      const after = await kit.enqueue('work');
      tasks.push(after);
      await kit.started(after);
    }
    for (const task of tasks) expect(await kit.ended(task)).toMatchObject({ state: 'finished' });
    expect((await kit.loom.stats()).totals.finished).toBe(tasks.length);
  });

  // O20
  it('a delayed task that falls due after the restart starts on time', async () => {
    await kit.hire();
    const due = Date.now() + 2_000;
    const task = await kit.enqueue('work', {}, { delay: 2_000 });
    await delay(700);
    await outage(0);
    const { startedAt } = await kit.started(task);
    expect(startedAt).toBeGreaterThanOrEqual(due - 20);
    expect(startedAt - due).toBeLessThan(3_000);
  });

  // O81
  it('a delayed task that fell due while nothing ran starts when workers do', async () => {
    const task = await kit.enqueue('work', {}, { delay: 500 });
    await outage(800);
    const worker = await kit.hire();
    const up = Date.now();
    const { startedAt } = await kit.started(task);
    expect(startedAt - up).toBeLessThan(3_000);
    expect(worker.isRunning).toBe(true);
  });
});

describe('the network fails', () => {
  // O43
  it('after the handler has returned: its result is sent again, it does not run again', async () => {
    await kit.hire();
    const task = await kit.enqueue('work', { ms: 200 });
    await kit.started(task);
    proxy.refuse(true);
    proxy.cut();
    await kit.until(() => kit.runs(task)[0]?.endedAt !== undefined);
    proxy.refuse(false);
    expect(await kit.ended(task)).toMatchObject({ state: 'finished', losses: 0 });
    expect(kit.runs(task)).toHaveLength(1);
  });

  // O43
  it('the reply of the settle is lost: sent again, answered the same, counted once', async () => {
    await kit.hire();
    const task = await kit.enqueue('work', { ms: 200 });
    await kit.started(task);
    let lost = 0;
    proxy.setRule((command) => {
      const settles = command.some((word) => word.includes(task)) && command[0] !== 'get';
      if (!settles || kit.runs(task)[0]?.endedAt === undefined || lost >= 3) return undefined;
      lost += 1;
      return { type: 'lose-reply', cut: true };
    });
    await kit.until(() => kit.runs(task)[0]?.outcome === 'finished');
    proxy.setRule(undefined);
    expect(lost).toBe(3);
    expect(kit.runs(task)).toHaveLength(1);
    expect((await kit.loom.stats()).totals.finished).toBe(1);
  });

  // O6
  it('at the instant the handler throws: the task runs again', async () => {
    await kit.hire();
    const task = await kit.enqueue('work', { ms: 200, fails: 1 });
    await kit.started(task);
    proxy.refuse(true);
    proxy.cut();
    await delay(2 * LEASE_MS);
    proxy.refuse(false);
    expect(await kit.ended(task)).toMatchObject({ state: 'finished' });
    expect(kit.runs(task).length).toBeGreaterThan(1);
  });
});
