/** What becomes of tasks whose worker process dies without a word. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { WorkerProcess } from '../support/processes/worker-fleet.ts';
import { delay, LEASE_MS, ProcessKit, RECOVERY_MS, slackMs } from './process-kit.ts';

let kit: ProcessKit;
beforeEach(() => {
  kit = new ProcessKit();
});
afterEach(() => kit.close());

describe('kill -9', () => {
  // O10
  it('SIGTERM and then kill -9: another worker finishes the task and what waits for it', async () => {
    const worker = await kit.hire();
    const task = await kit.enqueue('deaf', { ms: 5_000 });
    const next = await kit.enqueue('work', {}, { dependsOn: [task] });
    await kit.started(task);
    await kit.hire();
    worker.signal('SIGTERM');
    await delay(200);
    worker.signal('SIGKILL');
    const { at } = await worker.exited;
    const again = await kit.started(task, 2);
    expect(again.worker).toBe('w2');
    expect(again.startedAt - at).toBeLessThan(RECOVERY_MS + slackMs());
    expect(await kit.ended(next)).toMatchObject({ state: 'finished' });
    expect(await kit.ended(task)).toMatchObject({ state: 'finished', losses: 1, failures: 0 });
  });

  // O11 O39
  it('its tasks run again soon after the lease, and count as running no longer', async () => {
    const worker = await kit.hire();
    const tasks = await Promise.all([1, 2, 3].map(() => kit.enqueue('work', { ms: 300 })));
    await Promise.all(tasks.map((task) => kit.started(task)));
    worker.signal('SIGKILL');
    const { at } = await worker.exited;
    await kit.hire({ concurrency: 1 });
    // A process takes its time to start.
    const from = Math.max(at, Date.now() - LEASE_MS);
    const runs = await Promise.all(tasks.map((task) => kit.started(task, 2)));
    expect(Math.min(...runs.map(({ startedAt }) => startedAt)) - from).toBeLessThan(
      RECOVERY_MS + slackMs(),
    );
    const { counts } = await kit.loom.stats();
    expect(counts.started).toBeLessThanOrEqual(1);
    for (const task of tasks) expect(await kit.ended(task)).toMatchObject({ state: 'finished' });
  });

  // O33
  it('a busy second worker takes over as well as an idle one', async () => {
    const worker = await kit.hire({ concurrency: 1 });
    const task = await kit.enqueue('work', { ms: 10_000 });
    await kit.started(task);
    await kit.hire({ concurrency: 1 });
    const long = await kit.enqueue('work', { ms: 300 });
    await kit.started(long);
    worker.signal('SIGKILL');
    const { at } = await worker.exited;
    expect((await kit.started(task, 2)).startedAt - at).toBeLessThan(RECOVERY_MS + slackMs());
  });
});

describe('SIGSTOP', () => {
  // O1
  it('a worker that slept past its lease is refused, and the other result stays', async () => {
    const worker = await kit.hire();
    const task = await kit.enqueue('work', { ms: 300 });
    const first = await kit.started(task);
    worker.signal('SIGSTOP');
    await kit.hire();
    const second = await kit.started(task, 2);
    const record = await kit.ended(task);
    worker.signal('SIGCONT');
    await kit.until(() => kit.runs(task)[0]?.outcome === 'lost');
    expect(second.fence).toBeGreaterThan(first.fence);
    expect(record).toMatchObject({ state: 'finished' });
    expect(await kit.loom.tasks.get(task)).toEqual(record);
    expect((await kit.loom.stats()).totals.finished).toBe(1);
  });

  // O95.12
  it('a handler that blocks the event loop loses its lease, and its result is refused', async () => {
    await kit.hire({ concurrency: 1 });
    const task = await kit.enqueue('spin', { ms: 5 * LEASE_MS });
    await kit.started(task);
    await kit.hire({ concurrency: 1 });
    const again = await kit.started(task, 2);
    expect(again.worker).toBe('w2');
    await kit.until(() => kit.runs(task)[0]?.outcome === 'lost');
    expect((await kit.loom.stats()).totals.finished).toBeLessThanOrEqual(1);
  });
});

describe('tasks that kill their worker', () => {
  // O40
  it('three deaths make a dead letter, and the nine innocents finish', async () => {
    const deaths = watchOver(() => kit.launch());
    const innocents = await Promise.all(
      Array.from({ length: 9 }, () => kit.enqueue('work', { ms: 400 })),
    );
    const poison = await kit.enqueue('poison', { ms: 150 });
    const record = await kit.ended(poison);
    expect(record).toMatchObject({ state: 'failed', failureType: 'lost', losses: 3 });
    for (const task of innocents)
      expect(await kit.ended(task)).toMatchObject({ state: 'finished' });
    expect(kit.runs(poison)).toHaveLength(3);
    expect(deaths()).toBe(3);
  });

  // O18
  it('a worker out of memory is a lost lease; three of them are a dead letter', async () => {
    const deaths = watchOver(() => kit.launch({ node: ['--max-old-space-size=48'] }));
    const hog = await kit.enqueue('hog');
    const record = await kit.ended(hog);
    expect(record).toMatchObject({ state: 'failed', failureType: 'lost', losses: 3 });
    expect(deaths()).toBe(3);
    const after = await kit.enqueue('work');
    expect(await kit.ended(after)).toMatchObject({ state: 'finished' });
  });
});

/** Starts a worker, and another whenever one dies; how many did. */
function watchOver(launch: () => WorkerProcess): () => number {
  let deaths = 0;
  const start = (): void => {
    void launch().exited.then(({ signal }) => {
      // The test's own end kills the last one.
      if (signal === 'SIGKILL') return;
      deaths += 1;
      start();
    });
  };
  start();
  return () => deaths;
}
