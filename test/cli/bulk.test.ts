/** `fairloom bulk`: what asks first, and what waits for the end. */
import { expect, inject, it } from 'vitest';
import { redis } from '../../src/backends/redis/redis-backend.ts';
import { Fairloom } from '../../src/client/client.ts';
import { silentLogger } from '../../src/logging/logger.ts';
import { task } from '../../src/workflow/task-definition.ts';
import { fairloomHere } from '../support/cli-here.ts';
import type { Ended } from '../support/processes/run-process.ts';

const fine = task('fine', async (n: number) => n);
const broken = task('broken', { retries: 0 }, async (n: number, ctx) => {
  if (n > 1) ctx.log.warn('about to break');
  throw new RangeError(`number ${n}`);
});

function place(name: string): {
  readonly loom: Fairloom;
  readonly around: readonly string[];
  readonly run: (...args: readonly string[]) => Promise<Ended>;
} {
  const prefix = `bulk-${name}-${process.pid}`;
  const backend = redis(inject('redisUrl'), { prefix });
  const loom = new Fairloom({ backend, tasks: [fine, broken], log: silentLogger });
  const around = ['--redis', inject('redisUrl'), '--prefix', prefix];
  return { loom, around, run: (...args) => fairloomHere([...args, ...around]) };
}

it.each([
  ['cancel', 'user:acme', 'scheduled'],
  ['remove', 'user:acme', 'failed'],
])('%s needs --yes without a terminal', async (action, where, state) => {
  const { loom, run } = place(action);
  await using _end = loom;
  const worker = loom.worker();
  await worker.start();
  const handle = await loom.enqueue(broken, 1, { user: 'acme' });
  await handle.result().catch(() => undefined);
  await worker.stop();
  await loom.enqueue(fine, 1, { user: 'acme', delay: '1h' });

  const start = ['bulk', 'start', action, '--where', where];
  const refused = await run(...start);
  expect(refused).toMatchObject({ code: 6, stdout: '', stderr: expect.stringContaining('--yes') });
  expect(refused.stderr).toContain(`${action} 1 task:`);
  expect((await loom.bulk.list()).items).toEqual([]);
  expect(await run(...start, '--dry-run')).toMatchObject({ code: 0, stderr: '' });
  expect(await run(...start, '--yes')).toMatchObject({ code: 0, stderr: '' });
  expect((await loom.bulk.list()).items.map(({ dryRun }) => dryRun)).toEqual([false, true]);
  expect((await loom.tasks.counts())[state as 'failed']).toBe(1);
});

it('what gives and takes nothing away does not ask', async () => {
  const { loom, run } = place('free');
  await using _end = loom;
  await loom.enqueue(fine, 1, { user: 'acme', delay: '1h' });
  for (const action of ['redrive', 'run-now']) {
    const { code, stderr } = await run('bulk', 'start', action, '--where', 'user:acme');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  }
});

it('waits for the end, and ends with 1 when that is none', async () => {
  const { loom, run } = place('wait');
  await using _end = loom;
  const worker = loom.worker({ queues: ['ops'] });
  await worker.start();
  await loom.enqueue(fine, 1, { id: 'later', user: 'acme', delay: '1h' });
  const start = ['bulk', 'start', 'run-now', '--where', 'user:acme', '--wait', '-o', 'json'];
  const good = await run(...start, '--queue', 'ops');
  expect(good).toMatchObject({ code: 0, stderr: expect.stringContaining('is stored') });
  expect(JSON.parse(good.stdout)).toMatchObject({ state: 'finished', matched: 1, done: 1 });

  const waiting = run(...start, '--queue', 'nobody-serves-it');
  await expect.poll(async () => (await loom.bulk.list()).items.length).toBe(2);
  const [one] = (await loom.bulk.list()).items;
  await loom.bulk.cancel(one?.id ?? '');
  const { code, stdout } = await waiting;
  expect(code).toBe(1);
  expect(JSON.parse(stdout)).toMatchObject({ id: one?.id, state: 'canceled' });
});

it('tasks explain of a failed task names its log, if it has one', async () => {
  const { loom, run } = place('logs');
  await using _end = loom;
  const worker = loom.worker();
  await worker.start();
  for (const n of [1, 2]) {
    const handle = await loom.enqueue(broken, n, { id: `b ${n}` });
    await handle.result().catch(() => undefined);
  }
  const [silent, loud] = [
    await run('tasks', 'explain', 'b 1'),
    await run('tasks', 'explain', 'b 2'),
  ];
  expect(silent.stdout).not.toContain('fairloom tasks logs');
  expect(loud.stdout).toContain("\n  fairloom tasks redrive 'b 2'\n  fairloom tasks logs 'b 2'\n");
});
