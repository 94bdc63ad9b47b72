/** What `workers.list` says of the attempts of each worker, across retries, outages and restarts. */
import { expect, it } from 'vitest';
import type { Fairloom } from '../../../src/client/client.ts';
import { type FaultPlan, flakyBackend } from '../../../src/testing/flaky-backend.ts';
import { task } from '../../../src/workflow/task-definition.ts';
import { eachBackend, opened } from '../../support/backends.ts';
import { gate } from '../../support/gate.ts';
import { observe } from '../../support/workers.ts';

const good = task('good', async () => 1);
const bad = task('bad', { retries: 2, backoff: { base: 0 } }, async () => {
  throw new Error('no');
});

eachBackend((open) => {
  const harness = opened(open);

  /** Of every live worker, by id. */
  async function attempts(loom: Fairloom): Promise<Readonly<Record<string, unknown>>> {
    const workers = await loom.workers.list();
    return Object.fromEntries(workers.map((worker) => [worker.id, worker.attempts]));
  }

  // F35
  it('a worker is listed with how its attempts came out, each retry included', async () => {
    const loom = harness.loom([good, bad]);
    const worker = loom.worker({ id: 'me', concurrency: 2 });
    await worker.start();
    expect(await attempts(loom)).toEqual({ me: { succeeded: 0, failed: 0, lost: 0 } });
    const fine = await loom.enqueueMany(good, [undefined, undefined, undefined, undefined]);
    const broken = await loom.enqueue(bad);
    await Promise.all(fine.map((handle) => handle.result()));
    await expect(broken.result()).rejects.toThrow();
    // It is idle now: what it says of itself waits for no heartbeat.
    await worker.whenIdle();
    expect(await attempts(loom)).toEqual({ me: { succeeded: 4, failed: 3, lost: 0 } });
    expect((await loom.stats()).totals).toMatchObject({ finished: 4, failed: 1, retried: 2 });
  });

  // F35
  it('each worker has its own, and one that has stopped is not listed', async () => {
    const loom = harness.loom([good]);
    const [one, other] = [loom.worker({ id: 'one' }), loom.worker({ id: 'other' })];
    await one.start();
    await (await loom.enqueue(good)).result();
    await other.start();
    one.pause();
    await one.whenIdle();
    await one.stop();
    await (await loom.enqueue(good)).result();
    expect(await attempts(loom)).toEqual({ other: { succeeded: 1, failed: 0, lost: 0 } });
  });

  // F35
  it('an outage loses nothing of it, and counts nothing twice', async () => {
    let faults = 0;
    const plan: FaultPlan = ({ operation }) =>
      operation === 'tasks.settle' && faults++ % 2 === 0 ? 'lose-reply' : undefined;
    const loom = harness.loom([good], { backend: flakyBackend(harness.backend, plan) });
    const worker = loom.worker({ id: 'me', concurrency: 1 });
    const seen = observe(worker);
    await worker.start();
    for (let n = 1; n <= 3; n++) {
      await loom.enqueue(good);
      while (seen.of('task.finished').length < n) await harness.clock.advance('1s');
    }
    expect(seen.of('worker.error').length).toBeGreaterThanOrEqual(2);
    expect(await attempts(loom)).toEqual({ me: { succeeded: 3, failed: 0, lost: 0 } });
  });

  // F35
  it('who lost its lease is listed with the loss, who took over with the success', async () => {
    const deaf: FaultPlan = ({ operation }) =>
      operation === 'tasks.extend' ? 'lose-request' : undefined;
    const end = gate();
    let runs = 0;
    const slow = task('slow', async () => {
      if (runs++ === 0) await end.passed;
      return runs;
    });
    const isolated = harness.loom([slow], { backend: flakyBackend(harness.backend, deaf) });
    const first = isolated.worker({ id: 'first', lease: '200ms' });
    const seen = observe(first);
    const handle = await isolated.enqueue(slow);
    await first.start();
    await seen.count('task.started', 1);
    first.pause();
    const loom = harness.loom([slow]);
    await loom.worker({ id: 'second' }).start();
    await harness.clock.advance('2s');
    await handle.result();
    end.open();
    await seen.count('lease.lost', 1);
    expect(await attempts(loom)).toEqual({
      first: { succeeded: 0, failed: 0, lost: 1 },
      second: { succeeded: 1, failed: 0, lost: 0 },
    });
  });

  // F35
  it('a process that starts under the id of one that died begins at nothing', async () => {
    const hold = task('hold', () => new Promise(() => undefined));
    const dead = harness.loom([good, hold]);
    const worker = dead.worker({ id: 'me', lease: '1s' });
    const seen = observe(worker);
    await worker.start();
    await (await dead.enqueue(good)).result();
    await dead.enqueue(hold);
    await seen.count('task.started', 2);
    worker.abandon();
    await harness.clock.advance('500ms');
    const loom = harness.loom([good]);
    const again = loom.worker({ id: 'me' });
    let isStarted = false;
    const started = again.start().then(() => {
      isStarted = true;
    });
    // The id is free once the one that died was silent for long enough.
    for (let step = 0; step < 40 && !isStarted; step++) await harness.clock.advance('500ms');
    await started;
    await harness.clock.advance('5s');
    await harness.until(async () => (await loom.stats()).totals.lost === 1);
    await (await loom.enqueue(good)).result();
    expect(await loom.workers.list()).toMatchObject([
      { id: 'me', attempts: { succeeded: 1, failed: 0, lost: 0 } },
    ]);
  });
});
