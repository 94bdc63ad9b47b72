/** Steps that handlers run: numbered, written down, and without a slot while a group runs. */
import { describe, expect, it } from 'vitest';
import { LIMITS } from '../../../src/domain/limits.ts';
import { flakyBackend } from '../../../src/testing/flaky-backend.ts';
import { each, parallel } from '../../../src/workflow/parallel.ts';
import type { Step } from '../../../src/workflow/step.ts';
import type { TaskContext } from '../../../src/workflow/task-context.ts';
import { task } from '../../../src/workflow/task-definition.ts';
import { eachBackend, opened } from '../../support/backends.ts';
import { afterEveryCall } from '../../support/every-call.ts';
import { gate } from '../../support/gate.ts';
import { settled } from '../../support/runs.ts';
import { aborted } from '../../support/workers.ts';

const inc = task('inc', async (n: number) => n + 1);
const double = task('double', (n: number) => n * 2);
const both = parallel({ a: inc, b: double });

eachBackend((open, backendName) => {
  const harness = opened(open);

  describe('a handler', () => {
    it('runs tasks, pipelines and groups, and goes on with its stack', async () => {
      const passes: string[] = [];
      const outer = task('outer', async (n: number, ctx) => {
        passes.push('top');
        const one = await ctx.run(inc.pipe(double), n);
        passes.push('middle');
        const { a, b } = await ctx.run(both, one);
        passes.push('end');
        return a + b;
      });
      const loom = harness.loom([outer, both]);
      await loom.worker({ concurrency: 1 }).start();
      const handle = await loom.enqueue(outer, 1);
      expect(await settled(harness, handle.result())).toBe(5 + 8);
      expect(passes).toEqual(['top', 'middle', 'end']);
    });

    it('does so here and now too', async () => {
      const outer = task('outer', async (n: number, ctx) => (await ctx.run(both, n)).a);
      const loom = harness.loom([]);
      expect(await loom.run(outer, 1)).toBe(2);
      expect(await loom.run(outer.pipe(double), 1)).toBe(4);
    });

    it('gets the error of what it ran, and may go on', async () => {
      const fail = task('fail', { retries: 0 }, async (n: number): Promise<number> => {
        throw new RangeError(`no ${n}`);
      });
      const seen: string[] = [];
      const outer = task('outer', async (n: number, ctx) => {
        await ctx.run(fail, n).catch((error: unknown) => seen.push(String(error)));
        await ctx
          .run(parallel({ fail, inc }), n)
          .catch((error: unknown) => seen.push(String(error)));
        return seen.length;
      });
      const loom = harness.loom([outer, fail, inc]);
      await loom.worker().start();
      expect(await settled(harness, (await loom.enqueue(outer, 1)).result())).toBe(2);
      expect(seen[0]).toContain('no 1');
      expect(seen[1]).toContain('fail (RangeError: no 1)');
    });

    it('runs steps one after the other, also when it asks for them at once', async () => {
      const outer = task('outer', async (_: undefined, ctx) =>
        Promise.all([1, 2, 3].map((n) => ctx.run(both, n))),
      );
      const loom = harness.loom([outer, both]);
      await loom.worker().start();
      const handle = await loom.enqueue(outer);
      expect(await settled(harness, handle.result())).toEqual([
        { a: 2, b: 2 },
        { a: 3, b: 4 },
        { a: 4, b: 6 },
      ]);
    });

    it('is answered from the journal when a failed attempt starts it anew', async () => {
      const calls: string[] = [];
      const note = task('note', (n: number) => {
        calls.push(`note ${n}`);
        return n;
      });
      const outer = task('outer', { backoff: { base: 0 } }, async (n: number, ctx) => {
        const one = await ctx.run(each(note), [n, n + 1]);
        const two = await ctx.run(note, 7, { id: 'named' });
        if (ctx.attempt < 3) throw new Error('again');
        return [...one, two];
      });
      const loom = harness.loom([outer, note]);
      await loom.worker().start();
      expect(await settled(harness, (await loom.enqueue(outer, 1)).result())).toEqual([1, 2, 7]);
      expect(calls.toSorted()).toEqual(['note 1', 'note 2', 'note 7']);
    });

    it('runs what failed again in the next attempt, and what finished not', async () => {
      const calls: string[] = [];
      const part = task('part', { retries: 0 }, (n: number) => {
        calls.push(`part ${n}`);
        if (n === 2 && calls.length < 4) throw new Error('not yet');
        return n;
      });
      const outer = task('outer', { backoff: { base: 0 } }, async (_: undefined, ctx) =>
        ctx.run(each(part), [1, 2, 3]),
      );
      const loom = harness.loom([outer, part]);
      await loom.worker().start();
      expect(await settled(harness, (await loom.enqueue(outer)).result())).toEqual([1, 2, 3]);
      expect(calls.toSorted()).toEqual(['part 1', 'part 2', 'part 2', 'part 3']);
    });

    it('that asks for something else the second time fails, and is not retried', async () => {
      let attempts = 0;
      const outer = task('outer', { backoff: { base: 0 } }, async (_: undefined, ctx) => {
        await ctx.run(inc, ++attempts);
        throw new Error('again');
      });
      const loom = harness.loom([outer, inc]);
      await loom.worker().start();
      const handle = await loom.enqueue(outer);
      await expect(settled(harness, handle.result())).rejects.toThrow('another step or input');
      expect(attempts).toBe(2);
    });

    it('starts anew on another worker when its own is gone, and is answered there', async () => {
      const passes: string[] = [];
      const release = gate();
      const slow = task('slow', async (n: number) => {
        await release.passed;
        return n;
      });
      const outer = task('outer', async (n: number, ctx) => {
        passes.push('top');
        const one = await ctx.run(inc, n);
        passes.push('waits');
        const [two] = await ctx.run(each(slow), [one]);
        passes.push('end');
        return two;
      });
      const loom = harness.loom([outer, slow, inc]);
      const first = loom.worker({ concurrency: 1 });
      await first.start();
      const handle = await loom.enqueue(outer, 1);
      await harness.until(async () => (await loom.tasks.get(handle.id))?.state === 'deferred');
      await loom.worker({ concurrency: 1 }).start();
      const stopped = first.stop({ grace: 0 });
      release.open();
      await settled(harness, stopped);
      expect(await settled(harness, handle.result())).toBe(2);
      expect(passes).toEqual(['top', 'waits', 'top', 'waits', 'end']);
    });

    it('whose stack is older than its journal does not go on with it', async () => {
      // Two workers; the first keeps a stack, the second goes on without it and waits again.
      const passes: string[] = [];
      const step = (name: string): Step<number, number> => task(name, async (n: number) => n + 1);
      const [one, two] = [step('one'), step('two')];
      const outerFn = async (n: number, ctx: TaskContext): Promise<number> => {
        passes.push('top');
        const [first = 0] = await ctx.run(each(one), [n]);
        passes.push('first');
        const [second = 0] = await ctx.run(each(two), [first]);
        return second;
      };
      const outer = task('outer', outerFn);
      // It cannot run the first member, which is left for the other worker.
      const loom = harness.loom([task('outer', outerFn), two]);
      const keeper = loom.worker({ concurrency: 1 });
      await keeper.start();
      const handle = await loom.enqueue(outer, 1);
      const isDeferred = async (): Promise<boolean> =>
        (await loom.tasks.get(handle.id))?.state === 'deferred';
      await harness.until(isDeferred);
      keeper.pause();
      const other = harness.loom([outer, one]);
      const second = other.worker({ concurrency: 1 });
      await second.start();
      await harness.until(async () => {
        await harness.clock.advance(250);
        return passes.length === 3;
      });
      await harness.until(isDeferred);
      await settled(harness, second.stop({ grace: 0 }));
      keeper.resume();
      expect(await settled(harness, handle.result())).toBe(3);
      expect(passes).toEqual(['top', 'top', 'first', 'top', 'first']);
    });

    it('a lost lease while it waits in place is taken over', async () => {
      const started = gate();
      let calls = 0;
      const part = task('part', async (n: number, ctx) => {
        if (++calls === 1) {
          started.open();
          await aborted(ctx.signal);
          throw ctx.signal.reason;
        }
        return n;
      });
      const outer = task('outer', async (n: number, ctx) => ctx.run(inc.pipe(part), n));
      const never = new Promise<never>(() => undefined);
      const deaf = flakyBackend(harness.backend, ({ operation }) =>
        operation === 'tasks.extend' ? { holdUntil: never } : undefined,
      );
      const doomed = harness.loom([outer, part, inc], { backend: deaf });
      await doomed.worker().start();
      const loom = harness.loom([outer, part, inc]);
      const handle = await loom.enqueue(outer, 1);
      await started.passed;
      await loom.worker().start();
      await harness.clock.advance(LIMITS.leaseMs);
      expect(await settled(harness, handle.result())).toBe(2);
    });

    it('a cancel while it waits ends its stack', async () => {
      const reasons: unknown[] = [];
      const wait = task('wait', async (_: number, ctx) => aborted(ctx.signal));
      const outer = task('outer', async (n: number, ctx) => {
        try {
          await ctx.run(each(wait), [n]);
        } catch (error) {
          reasons.push(error);
          throw error;
        }
      });
      const loom = harness.loom([outer, wait]);
      await loom.worker({ concurrency: 1 }).start();
      const handle = await loom.enqueue(outer, 1);
      await harness.until(async () => (await loom.tasks.get(handle.id))?.state === 'deferred');
      await loom.tasks.cancel(handle.id);
      await expect(settled(harness, handle.result())).rejects.toMatchObject({
        code: 'TASK_CANCELED',
      });
      expect(reasons).toMatchObject([{ code: 'TASK_CANCELED' }]);
    });
  });

  // O53
  it('depth 4 with one slot in the whole fleet and maxRunning 1 is no deadlock', async () => {
    const levels: Step<number, number>[] = [inc];
    for (let depth = 1; depth <= 4; depth++) {
      const below = levels[depth - 1] ?? inc;
      const level = task(`level${depth}`, async (n: number, ctx) => {
        const results = await ctx.run(each(below), [n, n + 1]);
        return results.reduce((sum, one) => sum + one, 0);
      });
      levels.push(level);
    }
    const top = levels[4] ?? inc;
    const loom = harness.loom(levels as never);
    await loom.users.set('default', { maxRunning: 1 });
    await loom.queues.set('default', { maxRunning: 1 } as never);
    await loom.worker({ concurrency: 1 }).start();
    const handle = await loom.enqueue(top as never, 0 as never);
    // The sum over 16 leaves of (number of its right turns + 1).
    expect(await settled(harness, handle.result())).toBe(16 + 4 * 8);
  });

  it('a node of a driven run may run steps of its own, also groups', async () => {
    const passes: string[] = [];
    const outer = task('outer', async (n: number, ctx) => {
      passes.push('top');
      const { a, b } = await ctx.run(both, n);
      passes.push('end');
      return a + b;
    });
    const step = inc.as('first').pipe(outer).pipe(double.as('last'));
    const loom = harness.loom([step, both]);
    await loom.worker({ concurrency: 1 }).start();
    const run = await loom.enqueue(step, 1, { form: 'driven' });
    expect(await settled(harness, run.result())).toBe((3 + 4) * 2);
    expect(passes).toEqual(['top', 'end']);
  });

  it('after every call of a worker that dies, another goes on and the handler ends right', async () => {
    const calls = new Map<string, number>();
    const part = task('part', { backoff: { base: 0 } }, async (n: number) => {
      calls.set(`part ${n}`, (calls.get(`part ${n}`) ?? 0) + 1);
      return n + 1;
    });
    const outer = task('outer', async (n: number, ctx) => {
      const one = await ctx.run(part, n);
      const [two = 0, three = 0] = await ctx.run(each(part), [one, one + 1]);
      return ctx.run(part, two + three);
    });
    const every = { open, backend: backendName, tasks: [outer, part], least: 8 } as const;
    await afterEveryCall(every, async ({ own, loom, handle, lastCall, startDoomed }) => {
      calls.clear();
      await startDoomed();
      await loom.worker({ concurrency: 2 }).start();
      for (let round = 0; round < 4; round++) await own.clock.advance(LIMITS.leaseMs);
      expect([lastCall, await settled(own, handle.result())]).toEqual([lastCall, 8]);
      for (const [name, times] of calls) expect([name, times <= 2]).toEqual([name, true]);
    });
  });
});
