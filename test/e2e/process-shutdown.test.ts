/** SIGTERM, and what a process says with its exit code. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { delay, LEASE_MS, ProcessKit } from './process-kit.ts';

let kit: ProcessKit;
beforeEach(() => {
  kit = new ProcessKit();
});
afterEach(() => kit.close());

describe('SIGTERM', () => {
  // O2
  it('the lease is kept until the last handler has ended', async () => {
    const worker = await kit.hire();
    const task = await kit.enqueue('deaf', { ms: 3 * LEASE_MS });
    await kit.started(task);
    worker.signal('SIGTERM');
    await kit.hire();
    expect(await worker.exited).toMatchObject({ code: 0 });
    expect(await kit.ended(task)).toMatchObject({ state: 'finished', losses: 0 });
    expect(kit.runs(task)).toHaveLength(1);
  });

  // O3
  it('a handler that throws during the shutdown is retried elsewhere', async () => {
    const worker = await kit.hire();
    const task = await kit.enqueue('work', { ms: 200, fails: 1 });
    await kit.started(task);
    worker.signal('SIGTERM');
    expect(await worker.exited).toMatchObject({ code: 0 });
    await kit.hire();
    expect(await kit.ended(task)).toMatchObject({ state: 'finished', failures: 1, losses: 0 });
  });

  // O5
  it('a handler that ignores its signal is not started anew before its lease has ended', async () => {
    const worker = await kit.hire({ graceMs: 300 });
    const task = await kit.enqueue('deaf', { ms: 20_000 });
    await kit.started(task);
    worker.signal('SIGTERM');
    await kit.hire();
    const { code, at } = await worker.exited;
    expect(code).toBe(1);
    const again = await kit.started(task, 2);
    expect(again.startedAt).toBeGreaterThan(at);
    expect(again.worker).toBe('w2');
  });

  // O17
  it('results of handlers that have just returned are written before the end', async () => {
    for (let round = 0; round < 5; round++) {
      const worker = await kit.hire();
      const tasks = await Promise.all(
        Array.from({ length: 10 }, () => kit.enqueue('work', { ms: 20 })),
      );
      await kit.until(() => tasks.some((task) => kit.runs(task)[0]?.endedAt !== undefined));
      worker.signal('SIGTERM');
      expect(await worker.exited).toMatchObject({ code: 0 });
      await kit.hire();
      for (const task of tasks) {
        expect(await kit.ended(task)).toMatchObject({ state: 'finished', losses: 0 });
        expect(kit.runs(task)).toHaveLength(1);
      }
    }
  });

  // O27
  it('a task that shutdowns interrupt has used up no attempt', async () => {
    let task = '';
    for (let round = 1; round <= 3; round++) {
      const worker = await kit.hire({ graceMs: 50 });
      if (round === 1) task = await kit.enqueue('work', { ms: 900 }, { retries: 0 });
      await kit.started(task, round);
      worker.signal('SIGTERM');
      expect(await worker.exited).toMatchObject({ code: 0 });
      await kit.until(() => kit.runs(task)[round - 1]?.outcome === 'released');
    }
    await kit.hire();
    expect(await kit.ended(task)).toMatchObject({ state: 'finished', failures: 0, losses: 0 });
    expect(kit.runs(task)).toHaveLength(4);
  });

  // O4
  it('nothing stays started when tasks arrive during the shutdown', async () => {
    for (let round = 0; round < 5; round++) {
      const worker = await kit.hire();
      const tasks = Array.from({ length: 20 }, () => kit.enqueue('work'));
      worker.signal('SIGTERM');
      await Promise.all(tasks);
      expect(await worker.exited).toMatchObject({ code: 0 });
      const { counts, totals } = await kit.loom.stats();
      expect({ started: counts.started, lost: totals.lost }).toEqual({ started: 0, lost: 0 });
    }
  });

  it('a second signal means now: it ends with 1, and the task runs elsewhere', async () => {
    const worker = await kit.hire();
    const task = await kit.enqueue('deaf', { ms: 5_000 });
    await kit.started(task);
    worker.signal('SIGTERM');
    await delay(50);
    const asked = Date.now();
    worker.signal('SIGTERM');
    const { code, at } = await worker.exited;
    expect(code).toBe(1);
    expect(at - asked).toBeLessThan(4_000);
    await kit.hire();
    expect(await kit.started(task, 2)).toMatchObject({ worker: 'w2' });
  });

  it('a second signal ends an obedient handler with 0, and its task is given back', async () => {
    const worker = await kit.hire();
    const task = await kit.enqueue('work', { ms: 8_000 });
    await kit.started(task);
    worker.signal('SIGTERM');
    await delay(50);
    worker.signal('SIGTERM');
    expect(await worker.exited).toMatchObject({ code: 0 });
    expect(await kit.loom.tasks.get(task)).toMatchObject({
      state: 'queued',
      failures: 0,
      losses: 0,
    });
  });
});
