/** The named cases about a worker that ends: nothing is lost, nothing runs twice. */
import { expect, it } from 'vitest';
import { task } from '../../../src/workflow/task-definition.ts';
import { eachBackend, opened } from '../../support/backends.ts';
import { gate } from '../../support/gate.ts';
import { aborted, observe } from '../../support/workers.ts';

eachBackend((open) => {
  const harness = opened(open);

  // O2
  it('leases are extended until the last handler has settled, also during a shutdown', async () => {
    const end = gate();
    const long = task('long', async () => {
      await end.passed;
      return 'once';
    });
    const loom = harness.loom([long]);
    const worker = loom.worker({ lease: '2s' });
    const seen = observe(worker);
    await worker.start();
    const handle = await loom.enqueue(long);
    await seen.count('task.started', 1);
    const stopped = worker.stop({ grace: '20s' });
    await harness.clock.advance('6s');
    await harness.backend.tasks.tick();
    expect(await loom.tasks.get(handle.id)).toMatchObject({ state: 'started', losses: 0 });
    end.open();
    expect(await stopped).toEqual({ unfinished: [] });
    expect(await handle.result()).toBe('once');
    expect(seen.of('task.started')).toHaveLength(1);
  });

  // O3
  it('a handler that throws while the worker ends is retried, not left active', async () => {
    const end = gate();
    const failing = task('failing', { backoff: { base: '1m', jitter: 'none' } }, async () => {
      await end.passed;
      throw new Error('during the shutdown');
    });
    const loom = harness.loom([failing]);
    const worker = loom.worker();
    const seen = observe(worker);
    await worker.start();
    const handle = await loom.enqueue(failing);
    await seen.count('task.started', 1);
    const stopped = worker.stop();
    end.open();
    await stopped;
    expect(await loom.tasks.get(handle.id)).toMatchObject({ state: 'scheduled', failures: 1 });
  });

  // O4
  it('what is leased after the stop goes back at once, uncharged', async () => {
    const ran: string[] = [];
    const quick = task('quick', async (_: undefined, ctx) => void ran.push(ctx.taskId));
    const loom = harness.loom([quick]);
    let ended = 0;
    for (let round = 0; round < 60; round++) {
      const worker = loom.worker({ concurrency: 2 });
      await worker.start();
      const handles = await Promise.all([loom.enqueue(quick), loom.enqueue(quick)]);
      for (let turn = 0; turn < round % 6; turn++) await Promise.resolve();
      await worker.stop();
      const infos = await Promise.all(handles.map(({ id }) => loom.tasks.get(id)));
      for (const info of infos) {
        expect(info).toMatchObject({ losses: 0, failures: 0 });
        expect(['queued', 'finished']).toContain(info?.state);
        if (info?.state === 'finished') ended++;
      }
      expect(await loom.tasks.counts()).toMatchObject({ started: 0 });
    }
    const worker = loom.worker();
    await worker.start();
    await worker.whenIdle();
    expect(new Set(ran).size).toBe(120);
    expect(ran).toHaveLength(120);
    expect(ended).toBeLessThanOrEqual(120);
  });

  // O5
  it('a task whose handler goes on is not handed back', async () => {
    const end = gate();
    const starts: number[] = [];
    const deaf = task('deaf', async () => {
      starts.push(harness.clock.now());
      if (starts.length === 1) await end.passed;
    });
    const loom = harness.loom([deaf]);
    const first = loom.worker({ lease: '10s' });
    const seen = observe(first);
    await first.start();
    const handle = await loom.enqueue(deaf);
    await seen.count('task.started', 1);
    const second = loom.worker();
    await second.start();
    const stopped = first.stop({ grace: '500ms' });
    await harness.clock.advance('500ms');
    await harness.clock.advance('5s');
    expect(await stopped).toEqual({ unfinished: [handle.id] });
    expect(starts).toHaveLength(1);
    expect(await loom.tasks.get(handle.id)).toMatchObject({ state: 'started' });
    await harness.clock.advance('10s');
    await harness.clock.advance('10s');
    await handle.result();
    expect(starts).toHaveLength(2);
    expect(await loom.tasks.get(handle.id)).toMatchObject({ losses: 1 });
    end.open();
  });

  // O17
  it('what a handler returned as the worker ended is written before the end', async () => {
    const end = gate();
    const last = task('last', async (n: number) => {
      await end.passed;
      return n;
    });
    const loom = harness.loom([last]);
    const worker = loom.worker({ concurrency: 50 });
    const seen = observe(worker);
    await worker.start();
    const inputs = Array.from({ length: 50 }, (_, n) => n);
    const handles = await loom.enqueueMany(last, inputs);
    await seen.count('task.started', 50);
    const stopped = worker.stop();
    end.open();
    await stopped;
    expect(await loom.tasks.counts()).toMatchObject({ started: 0, queued: 0, finished: 50 });
    expect(await Promise.all(handles.map((handle) => handle.result()))).toEqual(inputs);
    expect(seen.of('task.started')).toHaveLength(50);
  });

  // O27
  it('an attempt that a shutdown ends is not counted', async () => {
    let starts = 0;
    const patient = task('patient', { retries: 0 }, async (_: undefined, ctx) => {
      starts++;
      if (starts <= 3) {
        await aborted(ctx.signal);
        throw ctx.signal.reason;
      }
      return ctx.attempt;
    });
    const loom = harness.loom([patient]);
    const handle = await loom.enqueue(patient);
    for (let round = 1; round <= 3; round++) {
      const worker = loom.worker();
      const seen = observe(worker);
      await worker.start();
      await seen.count('task.started', 1);
      await worker.stop({ grace: 0 });
      expect(seen.of('task.released')).toMatchObject([{ cause: { type: 'shutdown' } }]);
    }
    await loom.worker().start();
    expect(await handle.result()).toBe(1);
    expect(starts).toBe(4);
  });
});
