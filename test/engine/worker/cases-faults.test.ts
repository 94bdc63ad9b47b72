/** The named cases about calls that fail on the way to the backend or back. */
import { expect, it } from 'vitest';
import { BackendUnavailableError } from '../../../src/domain/errors/errors.ts';
import { type FaultPlan, flakyBackend } from '../../../src/testing/flaky-backend.ts';
import { signal } from '../../../src/workflow/signal.ts';
import { task } from '../../../src/workflow/task-definition.ts';
import { eachBackend, everyBackend, opened } from '../../support/backends.ts';
import { gate } from '../../support/gate.ts';
import { observe } from '../../support/workers.ts';

/** Loses requests or replies of one operation while the cut lasts. */
function cut(operations: readonly string[], kind: 'lose-request' | 'lose-reply') {
  let isCut = false;
  const plan: FaultPlan = ({ operation }) =>
    isCut && operations.some((one) => operation.startsWith(one)) ? kind : undefined;
  return {
    plan,
    begin: () => {
      isCut = true;
    },
    heal: () => {
      isCut = false;
    },
  };
}

eachBackend((open) => {
  const harness = opened(open);

  // O6
  it('a failure that cannot be written is written later, or the task runs again', async () => {
    const network = cut(['tasks', 'workers'], 'lose-request');
    let starts = 0;
    const failing = task('failing', { backoff: { base: 0 } }, async () => {
      starts++;
      if (starts > 1) return 'again';
      network.begin();
      throw new Error('as the network went');
    });
    const loom = harness.loom([failing], { backend: flakyBackend(harness.backend, network.plan) });
    const worker = loom.worker();
    const seen = observe(worker);
    await worker.start();
    network.heal();
    const handle = await loom.enqueue(failing);
    await seen.count('worker.error', 1);
    await harness.clock.advance('5s');
    network.heal();
    await harness.clock.advance('2s');
    await harness.clock.advance('2s');
    expect(await handle.result()).toBe('again');
    expect(starts).toBe(2);
  });

  // O7
  it('an enqueue that is sent again after a lost reply is one task', async () => {
    const network = cut(['tasks.enqueue'], 'lose-reply');
    const once = task('once', async () => undefined);
    const loom = harness.loom([once], { backend: flakyBackend(harness.backend, network.plan) });
    for (let round = 0; round < 50; round++) {
      network.begin();
      const id = `task-${round}`;
      await expect(loom.enqueue(once, undefined, { id })).rejects.toBeInstanceOf(
        BackendUnavailableError,
      );
      network.heal();
      expect(await loom.enqueue(once, undefined, { id })).toMatchObject({ id, created: false });
    }
    expect(await loom.tasks.counts()).toMatchObject({ queued: 50 });
  });

  // O8
  it('a lost reply to a lease costs nothing: the same request has the same answer', async () => {
    let lost = 0;
    const plan: FaultPlan = ({ operation }) => {
      const isLease = operation === 'tasks.lease' || operation === 'tasks.settle';
      return isLease && lost++ % 2 === 0 ? 'lose-reply' : undefined;
    };
    const starts: string[] = [];
    const once = task('once', async (_: undefined, ctx) => void starts.push(ctx.taskId));
    const loom = harness.loom([once], { backend: flakyBackend(harness.backend, plan) });
    const handles = await loom.enqueueMany(
      once,
      Array.from({ length: 20 }, () => undefined),
    );
    const worker = loom.worker({ concurrency: 5 });
    const seen = observe(worker);
    await worker.start();
    for (let finished = 0; finished < 20; finished = seen.of('task.finished').length) {
      await harness.clock.advance('100ms');
    }
    expect(new Set(starts).size).toBe(20);
    expect(starts).toHaveLength(20);
    for (const { id } of handles) {
      expect(await loom.tasks.get(id)).toMatchObject({ losses: 0, failures: 0 });
    }
  });

  // O14
  it('every error of the backend is waited out', async () => {
    const errors = ['READONLY', 'LOADING', 'MASTERDOWN', 'BUSY', 'UNBLOCKED', 'garbage'];
    const failing = new Set(['tasks.lease', 'workers.waitForWork', 'tasks.extend', 'tasks.tick']);
    const plan: FaultPlan = ({ operation, count }) => {
      const text = errors[count - 1];
      if (!failing.has(operation) || text === undefined) return undefined;
      return { throw: new TypeError(`${text} of a test`) };
    };
    const quick = task('quick', async () => 'ran');
    const loom = harness.loom([quick], { backend: flakyBackend(harness.backend, plan) });
    const worker = loom.worker();
    const seen = observe(worker);
    await worker.start();
    await harness.clock.advance('30s');
    const handle = await loom.enqueue(quick);
    await harness.clock.advance('10s');
    expect(await handle.result()).toBe('ran');
    expect(seen.of('worker.error').length).toBeGreaterThanOrEqual(errors.length);
    expect(seen.of('worker.stopped')).toEqual([]);
  });

  // O35
  it('a lease that is extended while its task finishes finishes all the same', async () => {
    const extending = gate();
    const end = gate();
    const plan: FaultPlan = ({ operation }) =>
      operation === 'tasks.extend' ? { holdReplyUntil: extending.passed } : undefined;
    const slow = task('slow', async () => {
      await end.passed;
      return 'finished';
    });
    const loom = harness.loom([slow], { backend: flakyBackend(harness.backend, plan) });
    const worker = loom.worker({ lease: '3s' });
    const seen = observe(worker);
    await worker.start();
    const handle = await loom.enqueue(slow);
    await seen.count('task.started', 1);
    await harness.clock.advance('1s');
    end.open();
    expect(await handle.result()).toBe('finished');
    extending.open();
    await harness.quiet();
    expect(seen.of('lease.lost')).toEqual([]);
    expect(seen.of('task.finished')).toHaveLength(1);
  });

  // O35
  it('an extension that comes after the end does not count as a loss', async () => {
    const settling = gate();
    const plan: FaultPlan = ({ operation, args }) => {
      const [request] = args as readonly { readonly settlements?: readonly unknown[] }[];
      return operation === 'tasks.settle' && (request?.settlements?.length ?? 0) > 0
        ? { holdReplyUntil: settling.passed }
        : undefined;
    };
    const slow = task('slow', async () => 'finished');
    const loom = harness.loom([slow], { backend: flakyBackend(harness.backend, plan) });
    const worker = loom.worker({ lease: '3s' });
    const seen = observe(worker);
    await worker.start();
    const handle = await loom.enqueue(slow);
    expect(await handle.result()).toBe('finished');
    // Stored, but the worker does not know yet: the backend answers its extension with "lost".
    await harness.clock.advance('1s');
    settling.open();
    await seen.count('task.finished', 1);
    expect(seen.of('lease.lost')).toEqual([]);
  });

  // O36
  it('a settlement that is sent twice is one end', async () => {
    const plan: FaultPlan = ({ operation, count }) =>
      operation === 'tasks.settle' && count <= 3 ? 'lose-reply' : undefined;
    const quick = task('quick', async () => 'ran');
    const loom = harness.loom([quick], { backend: flakyBackend(harness.backend, plan) });
    const worker = loom.worker();
    const seen = observe(worker);
    await worker.start();
    const handle = await loom.enqueue(quick);
    await seen.count('worker.error', 1);
    await harness.clock.advance('5s');
    expect(await handle.result()).toBe('ran');
    await harness.quiet();
    expect(seen.of('task.finished')).toHaveLength(1);
    expect(await loom.stats()).toMatchObject({ totals: { finished: 1 } });
  });

  // O43
  it('a result that cannot be written is written later; its handler does not run again', async () => {
    const network = cut(['tasks', 'workers'], 'lose-request');
    let starts = 0;
    const effect = task('effect', async () => {
      starts++;
      network.begin();
      return 'done';
    });
    const loom = harness.loom([effect], { backend: flakyBackend(harness.backend, network.plan) });
    const worker = loom.worker();
    const seen = observe(worker);
    await worker.start();
    const handle = await loom.enqueue(effect);
    await seen.count('worker.error', 1);
    await harness.clock.advance('3s');
    network.heal();
    await harness.clock.advance('2s');
    expect(await handle.result()).toBe('done');
    expect(starts).toBe(1);
  });

  // O13
  it('after an outage longer than a lease the worker consumes again', async () => {
    const network = cut(['tasks', 'workers'], 'lose-request');
    const quick = task('quick', async () => 'ran');
    const loom = harness.loom([quick], { backend: flakyBackend(harness.backend, network.plan) });
    const worker = loom.worker();
    const seen = observe(worker);
    await worker.start();
    await harness.quiet();
    network.begin();
    await harness.clock.advance('60s');
    expect(seen.of('worker.unhealthy')).toHaveLength(1);
    expect(worker.isHealthy).toBe(false);
    expect(await loom.health()).toMatchObject({ isHealthy: false });
    network.heal();
    const handle = await loom.enqueue(quick);
    await harness.clock.advance('5s');
    expect(await handle.result()).toBe('ran');
    expect(seen.of('worker.healthy')).toHaveLength(1);
    expect(await loom.health()).toMatchObject({ isHealthy: true });
  });

  it('extends at once after an outage, so that running tasks are not swept', async () => {
    const network = cut(['tasks', 'workers', 'series'], 'lose-request');
    const end = gate();
    const slow = task('slow', async () => {
      await end.passed;
      return 'once';
    });
    const loom = harness.loom([slow], { backend: flakyBackend(harness.backend, network.plan) });
    const worker = loom.worker({ lease: '6s' });
    const seen = observe(worker);
    await worker.start();
    const handle = await loom.enqueue(slow);
    await seen.count('task.started', 1);
    network.begin();
    await harness.clock.advance('30s');
    network.heal();
    await harness.clock.advance('2s');
    await harness.clock.advance('10s');
    expect(await loom.tasks.get(handle.id)).toMatchObject({ state: 'started', losses: 0 });
    end.open();
    expect(await handle.result()).toBe('once');
    expect(seen.of('lease.lost')).toEqual([]);
  });

  it('a settlement that the backend cannot take does not hold up the others', async () => {
    const plan: FaultPlan = ({ operation, args }) => {
      const [request] = args as readonly { readonly settlements?: readonly { id: string }[] }[];
      const isBad = request?.settlements?.some(({ id }) => id === 'bad') ?? false;
      return operation === 'tasks.settle' && isBad ? { throw: new TypeError('poison') } : undefined;
    };
    const end = gate();
    const both = task('both', async () => end.passed);
    const loom = harness.loom([both], { backend: flakyBackend(harness.backend, plan) });
    const worker = loom.worker();
    const seen = observe(worker);
    // Before it waits: a task that is handed over counts as lost only once it was extended.
    await loom.enqueue(both, undefined, { id: 'bad' });
    const good = await loom.enqueue(both, undefined, { id: 'good' });
    await worker.start();
    await seen.count('task.started', 2);
    end.open();
    await seen.count('worker.error', 1);
    await harness.clock.advance('10s');
    await good.result();
    expect(seen.of('lease.lost')).toMatchObject([{ taskId: 'bad' }]);
  });
});

everyBackend((open) => {
  const harness = opened(open);

  // F89
  it('slots are filled while settlements are in doubt, however many of their replies are lost', async () => {
    const network = cut(['tasks.settle'], 'lose-reply');
    const end = gate();
    const quick = task('quick', async () => 'done');
    const slow = task('slow', async () => end.passed);
    const backend = flakyBackend(harness.backend, network.plan);
    const loom = harness.loom([quick, slow], { backend });
    const worker = loom.worker({ concurrency: 2 });
    const seen = observe(worker);
    await worker.start();
    network.begin();
    const handle = await loom.enqueue(quick);
    await seen.count('worker.error', 1);
    await loom.enqueueMany(slow, [undefined, undefined]);
    await harness.clock.advance('100ms');
    await seen.count('task.started', 3);
    await harness.clock.advance('7s');
    expect(seen.of('task.finished')).toEqual([]);
    network.heal();
    end.open();
    await harness.clock.advance('2s');
    expect(await handle.result()).toBe('done');
    await seen.count('task.finished', 3);
    expect(seen.of('lease.lost')).toEqual([]);
  });

  // F89
  it('a wait is over in time although the replies to the call that began it are lost', async () => {
    const network = cut(['tasks.settle'], 'lose-reply');
    const never = signal('never');
    const wait = task('wait', async (_: undefined, ctx) => {
      await ctx.waitFor(never, { timeout: '1s' }).catch(() => undefined);
      woken.open();
      return 'timed out';
    });
    const woken = gate();
    const loom = harness.loom([wait], { backend: flakyBackend(harness.backend, network.plan) });
    const worker = loom.worker({ lease: '5s' });
    const seen = observe(worker);
    await worker.start();
    network.begin();
    const handle = await loom.enqueue(wait);
    await seen.count('worker.error', 1);
    for (let tenths = 0; tenths < 15; tenths++) await harness.clock.advance('100ms');
    await woken.passed;
    network.heal();
    await harness.clock.advance('2s');
    expect(await handle.result()).toBe('timed out');
    expect(seen.of('task.started')).toHaveLength(1);
    expect(seen.of('lease.lost')).toEqual([]);
    await harness.quiet();
  });

  it('a result that an outage held up for longer than a lease is written before another lease sweeps it', async () => {
    const network = cut(['tasks', 'workers', 'series'], 'lose-request');
    let starts = 0;
    const effect = task('effect', async () => {
      starts++;
      network.begin();
      return 'done';
    });
    const loom = harness.loom([effect], { backend: flakyBackend(harness.backend, network.plan) });
    const worker = loom.worker({ lease: '2s', concurrency: 4 });
    const seen = observe(worker);
    await worker.start();
    const handle = await loom.enqueue(effect);
    await seen.count('worker.error', 1);
    await harness.clock.advance('20s');
    network.heal();
    for (let tenths = 0; tenths < 20; tenths++) await harness.clock.advance('100ms');
    expect(await handle.result()).toBe('done');
    expect(starts).toBe(1);
    expect(seen.of('lease.lost')).toEqual([]);
  });
});
