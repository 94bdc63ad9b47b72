/** Driven runs: one worker at a time walks the graph, and writes down what each node came to. */
import { describe, expect, it } from 'vitest';
import type { Fairloom } from '../../../src/client/client.ts';
import { LIMITS } from '../../../src/domain/limits.ts';
import { flakyBackend } from '../../../src/testing/flaky-backend.ts';
import { flow } from '../../../src/workflow/flow.ts';
import { each, parallel } from '../../../src/workflow/parallel.ts';
import type { Step } from '../../../src/workflow/step.ts';
import { task } from '../../../src/workflow/task-definition.ts';
import { eachBackend, opened } from '../../support/backends.ts';
import { gate } from '../../support/gate.ts';
import { mortal } from '../../support/processes/mortal.ts';
import { stride } from '../../support/rounds.ts';
import { aborted, observe } from '../../support/workers.ts';

const driven = { form: 'driven' } as const;
const fast = { backoff: { base: 0 } } as const;

/** A task that counts its calls. */
function counted(name: string, calls: Map<string, number>): Step<number, number> {
  return task(name, fast, async (n: number) => {
    calls.set(name, (calls.get(name) ?? 0) + 1);
    return n + 1;
  });
}

eachBackend((open, name) => {
  const harness = opened(open);

  const sequence = (calls: Map<string, number>): Step<number, number> =>
    counted('a', calls).pipe(counted('b', calls)).pipe(counted('c', calls));

  describe('a driven run', () => {
    it('gives what its steps give, each run once, in one task', async () => {
      const calls = new Map<string, number>();
      const step = sequence(calls);
      const loom = harness.loom([step]);
      const worker = loom.worker();
      const seen = observe(worker);
      await worker.start();
      const handle = await loom.enqueue(step as never, 1 as never, driven);
      expect(await handle.result()).toBe(4);
      expect([...calls.values()]).toEqual([1, 1, 1]);
      await harness.quiet();
      expect(seen.of('task.finished')).toMatchObject([{ taskId: handle.id, name: '~drive' }]);
    });

    it('writes every node down, and each result once', async () => {
      const step = sequence(new Map());
      const loom = harness.loom([step]);
      await loom.worker().start();
      const handle = await loom.enqueue(step as never, 1 as never, driven);
      await handle.result();
      expect(await harness.backend.runs.load(handle.id)).toEqual({
        'n:a#1': 'o2',
        'n:b#1': 'o3',
        'n:c#1': 'o4',
      });
    });

    // O68
    it('two runs of one pipeline at once keep apart', async () => {
      const step = each(counted('a', new Map())).pipe(task('sum', (all: number[]) => all.join()));
      const loom = harness.loom([step]);
      await loom.worker().start();
      const inputs = [[1, 2], [1, 2], [3], []];
      const handles = await Promise.all(
        inputs.map((input) => loom.enqueue(step as never, input as never, driven)),
      );
      const results = await Promise.all(handles.map((handle) => handle.result()));
      expect(results).toEqual(['2,3', '2,3', '4', '']);
    });

    it('a node has its own retries: a short wait in place, a long one off the worker', async () => {
      const attempts: number[] = [];
      const backoff = { kind: 'fixed', base: '10s', jitter: 'none' } as const;
      const long = task('long', { retries: 1, backoff }, async (n: number, ctx) => {
        attempts.push(ctx.attempt);
        if (ctx.attempt === 1) throw new Error('later');
        return n;
      });
      const short = task('short', { retries: 2, ...fast }, async (n: number, ctx) => {
        attempts.push(ctx.attempt);
        if (ctx.attempt < 3) throw new Error('at once');
        return n;
      });
      const step = short.pipe(long);
      const loom = harness.loom([step]);
      const worker = loom.worker();
      const seen = observe(worker);
      await worker.start();
      const handle = await loom.enqueue(step, 5, driven);
      while (seen.of('task.released').length === 0) {
        await harness.quiet();
        await harness.clock.advance(0);
      }
      await harness.quiet();
      expect(attempts).toEqual([1, 2, 3, 1]);
      expect(await loom.tasks.get(handle.id)).toMatchObject({ state: 'scheduled', failures: 0 });
      await harness.clock.advance('10s');
      expect(await handle.result()).toBe(5);
      expect(attempts).toEqual([1, 2, 3, 1, 2]);
    });

    it('fails with the error of the node', async () => {
      const fail = task('fail', { retries: 0 }, async () => {
        throw new RangeError('mine');
      });
      const step = counted('a', new Map()).pipe(fail as never);
      const loom = harness.loom([step]);
      await loom.worker().start();
      const handle = await loom.enqueue(step as never, 1 as never, driven);
      await expect(handle.result()).rejects.toThrow('mine');
      expect(await loom.tasks.get(handle.id)).toMatchObject({
        state: 'failed',
        failureType: 'error',
        error: { name: 'RangeError', message: 'mine' },
      });
    });

    it('a node that takes too long fails by its own timeout', async () => {
      const started = gate();
      const slow = task('slow', { retries: 0, timeout: '2s' }, async (_: number, ctx) => {
        started.open();
        await aborted(ctx.signal);
        throw ctx.signal.reason;
      });
      const step = counted('a', new Map()).pipe(slow as never);
      const loom = harness.loom([step]);
      await loom.worker().start();
      const handle = await loom.enqueue(step as never, 1 as never, driven);
      const failed = expect(handle.result()).rejects.toThrow('2000 ms');
      await started.passed;
      await harness.clock.advance('2s');
      await failed;
      expect(await loom.tasks.get(handle.id)).toMatchObject({ failureType: 'timeout' });
    });

    it('a cancel reaches the node in hand, and no other is run', async () => {
      const calls = new Map<string, number>();
      const started = gate();
      const slow = task('slow', async (n: number, ctx) => {
        started.open();
        await aborted(ctx.signal);
        return n;
      });
      const step = slow.pipe(counted('b', calls));
      const loom = harness.loom([step]);
      await loom.worker().start();
      const handle = await loom.enqueue(step, 1, driven);
      await started.passed;
      await loom.tasks.cancel(handle.id, { reason: 'enough' });
      await expect(handle.result()).rejects.toMatchObject({ code: 'RUN_CANCELED' });
      expect(calls.size).toBe(0);
    });

    it('a worker that stops gives the run back, and what is done is kept', async () => {
      const calls = new Map<string, number>();
      const started = gate();
      const slow = task('slow', async (n: number, ctx) => {
        calls.set('slow', (calls.get('slow') ?? 0) + 1);
        if (calls.get('slow') === 1) {
          started.open();
          await aborted(ctx.signal);
          throw ctx.signal.reason;
        }
        return n;
      });
      const step = counted('a', calls).pipe(slow).pipe(counted('c', calls));
      const loom = harness.loom([step]);
      const first = loom.worker();
      await first.start();
      const handle = await loom.enqueue(step, 1, driven);
      await started.passed;
      await first.stop({ grace: 0 });
      await loom.worker().start();
      expect(await handle.result()).toBe(3);
      expect(Object.fromEntries(calls)).toEqual({ a: 1, slow: 2, c: 1 });
    });

    it('a producer that was only slow is fenced: it writes nothing more', async () => {
      const calls = new Map<string, number>();
      const [started, resume] = [gate(), gate()];
      let isFirst = true;
      const slow = task('slow', async (n: number) => {
        if (!isFirst) return n * 10;
        isFirst = false;
        started.open();
        await resume.passed;
        return n * 1_000;
      });
      const step = slow.pipe(counted('b', calls));
      // The worker that freezes: its timers do not fire, so it extends nothing.
      const frozen = flakyBackend(harness.backend, ({ operation }) =>
        operation === 'tasks.extend' ? { holdUntil: resume.passed } : undefined,
      );
      const slowLoom = harness.loom([step], { backend: frozen });
      await slowLoom.worker().start();
      const loom = harness.loom([step]);
      const handle = await loom.enqueue(step, 1, driven);
      await started.passed;
      await loom.worker().start();
      await harness.clock.advance(LIMITS.leaseMs + 6_000);
      expect(await handle.result()).toBe(11);
      resume.open();
      await harness.quiet();
      expect(await harness.backend.runs.load(handle.id)).toMatchObject({ 'n:slow#1': 'o10' });
      expect(calls.get('b')).toBe(1);
    });

    it('goes on where it was when its code is on another worker only', async () => {
      const calls = new Map<string, number>();
      const [a, b] = [counted('a', calls), counted('b', calls)];
      const step = a.pipe(b);
      const half = harness.loom([a]);
      const worker = half.worker();
      const seen = observe(worker);
      await worker.start();
      const handle = await half.enqueue(step as never, 1 as never, driven);
      await seen.count('task.released', 1);
      await worker.stop();
      const whole = harness.loom([step]);
      await whole.worker().start();
      await harness.clock.advance('1s');
      expect(await handle.result()).toBe(3);
      expect(Object.fromEntries(calls)).toEqual({ a: 1, b: 1 });
    });

    it('checkpoint: "group" writes less, and gives the same', async () => {
      const step = counted('a', new Map()).pipe(counted('b', new Map()));
      const loom = harness.loom([step]);
      await loom.worker().start();
      const handle = await loom.enqueue(
        step as never,
        1 as never,
        {
          ...driven,
          checkpoint: 'group',
        } as never,
      );
      expect(await handle.result()).toBe(3);
      expect(await harness.backend.runs.load(handle.id)).toEqual({});
    });
  });

  describe('when the producer dies', () => {
    const calls = new Map<string, number>();
    const note = flow('note', (f) => f.step(counted('x', calls), f.input as never));
    const step = counted('a', calls)
      .pipe(parallel(counted('m', calls), counted('n', calls).pipe(counted('o', calls))) as never)
      .pipe(task('sum', ([m, o]: readonly number[]) => (m ?? 0) + (o ?? 0)) as never)
      .pipe(note as never) as unknown as Step<number, number>;

    const runUntil = async (lastCall: number): Promise<boolean> => {
      calls.clear();
      const own = await open();
      const { backend, died } = mortal(own.backend, lastCall);
      const doomed: Fairloom = own.loom([step], { backend });
      const loom = own.loom([step]);
      const handle = await loom.enqueue(step as never, 1 as never, driven);
      const result = handle.result();
      void doomed
        .worker({ concurrency: 2 })
        .start()
        .catch(() => undefined);
      await own.quiet();
      await loom.worker({ concurrency: 2 }).start();
      for (let round = 0; round < 4; round++) await own.clock.advance(LIMITS.leaseMs);
      expect([lastCall, await result]).toEqual([lastCall, 8]);
      for (const [node, times] of calls) expect([node, times <= 2]).toEqual([node, true]);
      const written = await own.backend.runs.load(handle.id);
      expect(written['n:note.x#1'] ?? written['n:x#1']).toBe('o8');
      await own.close();
      return died();
    };

    // O54 O61 O62
    it(`after every call in turn, another goes on and the run ends right (${name})`, async () => {
      let lastCall = 1;
      while (await runUntil(lastCall)) lastCall += stride(name);
      expect(lastCall).toBeGreaterThan(8);
    });
  });
});
