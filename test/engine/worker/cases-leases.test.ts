/** The named cases about attempts, slots and signals. */
import { expect, it } from 'vitest';
import { LeaseLostError } from '../../../src/domain/errors/errors.ts';
import type { Backend, Leased } from '../../../src/domain/port/backend.ts';
import { type FaultPlan, flakyBackend } from '../../../src/testing/flaky-backend.ts';
import { task } from '../../../src/workflow/task-definition.ts';
import { retryAfter } from '../../../src/workflow/tasks/retry-after.ts';
import { eachBackend, opened } from '../../support/backends.ts';
import { gate } from '../../support/gate.ts';
import { overlay } from '../../support/witness.ts';
import { aborted, observe } from '../../support/workers.ts';

const REQUESTED = { kind: 'requested', worker: 'w' };

eachBackend((open) => {
  const harness = opened(open);

  // O1
  it('who lost its lease finishes nothing: one end, of the attempt that holds it', async () => {
    const deaf: FaultPlan = ({ operation }) =>
      operation === 'tasks.extend' ? 'lose-request' : undefined;
    const end = gate();
    const runs: string[] = [];
    const slow = task('slow', async () => {
      runs.push('start');
      if (runs.length > 1) return 'second';
      await end.passed;
      return 'first';
    });
    const isolated = harness.loom([slow], { backend: flakyBackend(harness.backend, deaf) });
    const first = isolated.worker({ lease: '200ms' });
    const seen = observe(first);
    await first.start();
    const handle = await isolated.enqueue(slow);
    await seen.count('task.started', 1);
    first.pause();
    const other = harness.loom([slow]);
    await other.worker().start();
    await harness.clock.advance('2s');
    expect(await handle.result()).toBe('second');
    end.open();
    await seen.count('lease.lost', 1);
    expect(seen.of('task.finished')).toEqual([]);
    expect(await handle.result()).toBe('second');
    expect(await other.stats()).toMatchObject({ totals: { finished: 1 } });
  });

  // O16
  it('a task that is delayed for ten leases runs once', async () => {
    const starts: number[] = [];
    const later = task('later', async () => void starts.push(harness.clock.now()));
    const loom = harness.loom([later]);
    await loom.worker({ lease: '1s' }).start();
    const from = harness.clock.now();
    const handle = await loom.enqueue(later, undefined, { delay: '10s' });
    await harness.clock.advance('9s');
    expect(starts).toEqual([]);
    await harness.clock.advance('2s');
    await handle.result();
    expect(starts).toHaveLength(1);
    expect((starts[0] ?? 0) - from).toBeGreaterThanOrEqual(10_000);
    expect((starts[0] ?? 0) - from).toBeLessThanOrEqual(10_100);
  });

  // O23
  it('a lease begins when its handler does: nothing is fetched ahead', async () => {
    const starts: string[] = [];
    const slow = task('slow', async (_: undefined, ctx) => {
      starts.push(ctx.taskId);
      await new Promise<void>((resolve) => {
        harness.clock.setTimer(600, resolve);
      });
    });
    const loom = harness.loom([slow]);
    await loom.enqueueMany(
      slow,
      Array.from({ length: 12 }, () => undefined),
    );
    for (const id of ['a', 'b']) await loom.worker({ id, concurrency: 1, lease: '1s' }).start();
    await harness.quiet();
    expect(await loom.tasks.counts()).toMatchObject({ started: 2, queued: 10 });
    await harness.clock.advance('8s');
    expect(await loom.tasks.counts()).toMatchObject({ finished: 12 });
    expect(starts).toHaveLength(12);
    expect(await loom.stats()).toMatchObject({ totals: { lost: 0 } });
  });

  // O40
  it('a task whose worker dies every time ends as lost; what ran beside it does not', async () => {
    const starts: string[] = [];
    const poison = task('poison', async (_: undefined, ctx) => {
      starts.push(`poison ${ctx.attempt}`);
      await aborted(ctx.signal);
    });
    const innocent = task('innocent', async () => void starts.push('innocent'));
    const loom = harness.loom([poison, innocent]);
    const handle = await loom.enqueue(poison, undefined, { user: 'p' });
    for (let death = 0; death < 3; death++) {
      await loom.enqueue(innocent, undefined, { user: `i${death}` });
      const worker = loom.worker({ lease: '1s', concurrency: 4 });
      const seen = observe(worker);
      await worker.start();
      await seen.count('task.started', 1);
      await harness.until(() => starts.filter((one) => one !== 'innocent').length > death);
      // As a process that ends at once: nothing is written, nothing is extended.
      worker.abandon();
      await harness.clock.advance('2s');
      for (let tick = 0; tick < 10; tick++) {
        await harness.backend.tasks.tick();
        await harness.clock.advance('1s');
      }
    }
    await loom.worker().start();
    await harness.clock.advance('1s');
    expect(await loom.tasks.get(handle.id)).toMatchObject({ state: 'failed', failureType: 'lost' });
    expect(starts.filter((one) => one !== 'innocent')).toHaveLength(3);
    expect(await loom.tasks.counts()).toMatchObject({ finished: 3, failed: 1 });
  });

  for (const retries of [0, 1, 2]) {
    // O70
    it(`${retries} retries are exactly ${retries + 1} starts`, async () => {
      let starts = 0;
      const backoff = { base: 0 } as const;
      const failing = task(
        'failing',
        { retries, backoff, timeout: '1s' },
        async (_: undefined, ctx) => {
          starts++;
          // Failures of every kind count alike; what is given back does not count.
          if (starts % 2 === 0) await aborted(ctx.signal);
          throw new Error('no');
        },
      );
      const giving = task('giving', { retries, backoff }, async (_: undefined, ctx) => {
        if (ctx.attempt === 1 && given++ < 5) throw retryAfter(100, { countAttempt: false });
        counted++;
        throw retryAfter(0);
      });
      let given = 0;
      let counted = 0;
      const loom = harness.loom([failing, giving]);
      await loom.worker().start();
      const handles = [await loom.enqueue(failing), await loom.enqueue(giving)];
      await harness.clock.advance('30s');
      for (const { id } of handles) {
        expect(await loom.tasks.get(id)).toMatchObject({
          state: 'failed',
          failureType: expect.stringMatching(/^(error|timeout)$/),
        });
      }
      expect(starts).toBe(retries + 1);
      expect(counted).toBe(retries + 1);
    });
  }

  // O77
  it('a cancel reaches a saturated worker within one heartbeat', async () => {
    const wait = task('wait', async (_: undefined, ctx) => aborted(ctx.signal));
    const loom = harness.loom([wait]);
    const worker = loom.worker({ concurrency: 2, lease: '3s' });
    const seen = observe(worker);
    await worker.start();
    const handles = await loom.enqueueMany(wait, [undefined, undefined, undefined]);
    await seen.count('task.started', 2);
    const [running] = seen.of('task.started');
    const at = harness.clock.now();
    await harness.backend.tasks.cancel(running?.taskId ?? '', { type: 'request' });
    await harness.clock.advance('1s');
    await seen.count('task.canceled', 1);
    expect(harness.clock.now() - at).toBeLessThanOrEqual(1_000);
    expect(handles.map(({ id }) => id)).toContain(seen.of('task.canceled')[0]?.taskId);
  });

  it.each(['asked for', 'handed over'])(
    'a cancel by the same process of a task that is on its way ends it before its handler begins: %s',
    async (how) => {
      let starts = 0;
      const wait = task('wait', async () => starts++);
      const { backend } = harness;
      /** The answer stays on its way until all that it brings is canceled. */
      const late = async <T>(reply: T, leases: readonly Leased[]): Promise<T> => {
        for (const { id } of leases) expect(await loom.tasks.cancel(id)).toEqual(REQUESTED);
        return reply;
      };
      const lease: Backend['tasks']['lease'] = async (request) => {
        const reply = await backend.tasks.lease(request);
        return late(reply, reply.leases);
      };
      const waitForWork: Backend['workers']['waitForWork'] = async (...call) => {
        const notice = await backend.workers.waitForWork(...call);
        return late(notice, typeof notice === 'object' ? [notice] : []);
      };
      const slow = overlay(backend, {
        tasks: overlay(backend.tasks, { lease }),
        workers: overlay(backend.workers, { waitForWork }),
      });
      const loom = harness.loom([wait], { backend: slow });
      const worker = loom.worker({ id: 'w' });
      const seen = observe(worker);
      if (how === 'handed over') await worker.start();
      await harness.quiet();
      const handle = await loom.enqueue(wait);
      if (how === 'asked for') await worker.start();
      await seen.count('task.canceled', 1);
      expect(await loom.tasks.get(handle.id)).toMatchObject({ state: 'canceled' });
      expect(starts).toBe(0);
    },
  );

  // O95.13
  it('a handler whose lease is lost learns it within one heartbeat', async () => {
    const reasons: unknown[] = [];
    const wait = task('wait', { retries: 0 }, async (_: undefined, ctx) => {
      await aborted(ctx.signal);
      reasons.push(ctx.signal.reason);
    });
    const loom = harness.loom([wait]);
    const worker = loom.worker({ lease: '3s' });
    const seen = observe(worker);
    await worker.start();
    const handle = await loom.enqueue(wait);
    await seen.count('task.started', 1);
    // Another client ends it with the token, without the worker.
    const [record] = await harness.backend.inspect.get([handle.id]);
    const decision = { type: 'finish', result: '"stolen"' } as const;
    const settlements = [{ id: handle.id, token: record?.token ?? '', decision }];
    await harness.backend.tasks.settle({ worker: worker.id, settlements });
    await harness.clock.advance('1s');
    await seen.count('lease.lost', 1);
    await harness.until(() => reasons.length === 1);
    expect(reasons[0]).toBeInstanceOf(LeaseLostError);
    expect(await handle.result()).toBe('stolen');
  });

  it('a task on its last chance runs with nothing beside it', async () => {
    const beside: string[] = [];
    const running = new Set<string>();
    const end = gate();
    const watch = task('watch', async (_: undefined, ctx) => {
      running.add(ctx.taskId);
      if (ctx.taskId === 'last' && running.size > 1) beside.push(...running);
      if (running.has('last') && running.size > 1) beside.push(...running);
      if (ctx.taskId !== 'last') await end.passed;
      running.delete(ctx.taskId);
    });
    const loom = harness.loom([watch]);
    await loom.enqueue(watch, undefined, { id: 'last', user: 'l' });
    for (let loss = 0; loss < 2; loss++) {
      await harness.backend.workers.register({
        id: 'doomed',
        queues: ['default'],
        names: ['watch'],
        concurrency: 1,
        host: 'test',
      });
      await harness.backend.tasks.lease({
        requestId: `doomed000${loss}`,
        worker: 'doomed',
        limit: 1,
        leaseMs: 1_000,
        queues: [{ queue: 'default', weight: 1, pass: 0 }],
        wait: false,
      });
      for (let second = 0; second < 20; second++) {
        await harness.clock.advance('1s');
        await harness.backend.tasks.tick();
      }
    }
    expect(await loom.tasks.get('last')).toMatchObject({ state: 'queued', losses: 2 });
    const others = await loom.enqueueMany(
      watch,
      Array.from({ length: 6 }, () => undefined),
    );
    const worker = loom.worker({ concurrency: 4 });
    await worker.start();
    await harness.until(() => running.size > 0);
    await harness.quiet();
    end.open();
    await Promise.all(others.map((handle) => handle.result()));
    await harness.until(async () => (await loom.tasks.get('last'))?.state === 'finished');
    expect(beside).toEqual([]);
  });
});
