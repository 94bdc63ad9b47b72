/** What the options of workers do: each test is named after the option whose effect it shows. */
import { task } from 'fairloom';
import { describe, expect, it, vi } from 'vitest';
import { openMemory } from '../support/backends.ts';
import { gate } from '../support/gate.ts';
import { load, loomOf } from './kit.ts';

const quick = task('quick', async (n: number) => n);

describe('worker', () => {
  it('worker.id is the name under which it is listed', async () => {
    const loom = await loomOf('worker: { id: w-7 }', [quick]);
    await loom.drain();
    expect(await loom.workers.list()).toMatchObject([{ id: 'w-7' }]);
  });

  it('worker.concurrency is how many tasks run at once', async () => {
    const open = gate();
    const wait = task('wait', () => open.passed);
    const loom = await loomOf('worker: { concurrency: 3 }', [wait]);
    await loom.enqueueMany(wait, [undefined, undefined, undefined, undefined, undefined]);
    await loom.clock.advance(1);
    expect((await loom.stats()).counts).toMatchObject({ started: 3, queued: 2 });
    open.open();
    await loom.drain();
  });

  it('worker.queues is which queues it serves, and by which weights', async () => {
    const some = await loomOf('worker: { queues: [mail] }', [quick]);
    await some.enqueue(quick, 1);
    await some.enqueue(quick, 2, { queue: 'mail' });
    await some.drain();
    expect(some.history.map(({ input }) => input)).toEqual([2]);

    const weighed = 'worker: { concurrency: 1, queues: { a: 3, b: 1 } }';
    const both = await loomOf(weighed, [quick]);
    for (const queue of ['a', 'b']) await both.enqueueMany(quick, Array(12).fill(0), { queue });
    const handled = (): Promise<string> =>
      Promise.all(both.history.slice(0, 12).map((run) => both.tasks.get(run.taskId))).then(
        (tasks) => tasks.map((found) => found?.queue).join(''),
      );
    await both.drain();
    expect([...(await handled())].filter((queue) => queue === 'a').length).toBe(9);
  });

  it('worker.assignedUsers are the only ones that it serves', async () => {
    const loom = await loomOf('worker: { assignedUsers: ["user:1"] }', [quick]);
    for (const user of ['user:1', 'user:2']) await loom.enqueue(quick, 1, { user });
    await loom.drain();
    expect(loom.order()).toEqual([['user:1', 'quick']]);
  });

  it('worker.stealTargets are served when those have nothing', async () => {
    const worker = '{ concurrency: 1, assignedUsers: ["user:1"], stealTargets: ["user:2"] }';
    const loom = await loomOf(`worker: ${worker}`, [quick]);
    for (const user of ['user:3', 'user:1', 'user:2']) await loom.enqueue(quick, 1, { user });
    await loom.drain();
    expect(loom.order().map(([user]) => user)).toEqual(['user:1', 'user:2']);

    const any = await loomOf('worker: { assignedUsers: [ann], stealTargets: any }', [quick]);
    await any.enqueue(quick, 1, { user: 'bob' });
    await any.drain();
    expect(any.history.length).toBe(1);
  });

  it('worker.lease is how long a silent worker keeps its tasks', async () => {
    const harness = await openMemory();
    const wait = task('wait', () => new Promise<void>(() => undefined));
    const { config } = await load('worker: { lease: 60s, concurrency: 1 }');
    const loom = harness.loom([wait]);
    const leases = vi.spyOn(harness.backend.tasks, 'lease');
    await loom.worker(config.workers[0]).start();
    await loom.enqueue(wait);
    await harness.quiet();
    expect(leases.mock.calls[0]?.[0]).toMatchObject({ leaseMs: 60_000 });
    await harness.close();
  });

  it('worker.grace is how long a shutdown waits for a handler', async () => {
    const harness = await openMemory();
    const wait = task('wait', () => new Promise<void>(() => undefined));
    const { config } = await load('worker: { grace: 90s }');
    const loom = harness.loom([wait]);
    const worker = loom.worker(config.workers[0]);
    await worker.start();
    await loom.enqueue(wait);
    await harness.until(() => worker.running === 1);
    const isStopped = vi.fn();
    const stopped = worker.stop().finally(isStopped);
    await harness.clock.advance('89s');
    expect(isStopped).not.toHaveBeenCalled();
    await harness.clock.advance('10s');
    expect((await stopped).unfinished.length).toBe(1);
    await harness.close();
  });

  it.each([
    [true, 6],
    [false, 0],
  ])('worker.scheduler %s decides whether it fires schedules', async (scheduler, count) => {
    const ping = task('ping', async () => 'pong');
    const loom = await loomOf(`worker: { scheduler: ${scheduler} }`, [ping]);
    await loom.schedules.set('often', { every: '10s', task: ping });
    await loom.clock.advance('60s');
    expect(loom.history.length).toBe(count);
  });
});
