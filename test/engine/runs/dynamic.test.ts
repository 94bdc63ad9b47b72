/** Dynamic nodes in workers: what a handler chooses, the run does, also after a crash. */
import { describe, expect, it } from 'vitest';
import type { Fairloom } from '../../../src/client/client.ts';
import { LIMITS } from '../../../src/domain/limits.ts';
import type { RunHandle } from '../../../src/runs/calls/run-handle.ts';
import { flakyBackend } from '../../../src/testing/flaky-backend.ts';
import { each, parallel } from '../../../src/workflow/parallel.ts';
import type { Task } from '../../../src/workflow/step.ts';
import { dynamic, task } from '../../../src/workflow/task-definition.ts';
import { eachBackend, opened } from '../../support/backends.ts';
import { settled } from '../../support/runs.ts';
import { aborted } from '../../support/workers.ts';

const inc = task('inc', async (n: number) => n + 1);
const double = task('double', (n: number) => n * 2);
const never = task('never', { retries: 0 }, async (_: unknown): Promise<number> => {
  throw new Error('not to be run');
});
const wait = task('wait', async (_: unknown, ctx): Promise<number> => {
  await aborted(ctx.signal);
  throw ctx.signal.reason;
});
const agent: Task<number, number> = dynamic('agent', (n: number, ctx) =>
  ctx.cycle < 3 && ctx.canIterate ? ctx.again(n + 1) : n,
);
const stop = dynamic('stop', (n: number, ctx) => ctx.terminate(`at ${n}`));
const quit = dynamic('quit', (_: number, ctx) => ctx.cancelRun('enough'));
const fan = dynamic('fan', (n: number, ctx) => ctx.next(parallel(double, inc.pipe(wait0)), n));
const wait0 = task('wait0', (n: number) => n);
const sum = task('sum', ([a, b]: readonly [number, number]) => a + b);
const leap = dynamic('leap', (n: number, ctx) => ctx.goto(inc, n));
const loop = dynamic('loop', { maxCycles: 3 }, (n: number, ctx) => ctx.again(n));

eachBackend((open) => {
  const harness = opened(open);

  const known = [inc, double, never, wait, agent, stop, quit, fan, wait0, sum, leap, loop];

  async function result(step: unknown, input: unknown): Promise<unknown> {
    const loom = harness.loom(known);
    await loom.worker().start();
    const run = (await loom.enqueue(step as never, input as never)) as RunHandle<unknown>;
    return settled(harness, run.result()).catch((error: unknown) => String(error));
  }

  describe('a dynamic node', () => {
    it('again, next, goto, terminate and cancelRun', async () => {
      expect(await result(agent.pipe(double), 0)).toBe(6);
      expect(await result(fan.pipe(sum as never), 5)).toBe(16);
      expect(await result(leap.pipe(never).pipe(inc as never), 5)).toBe(6);
      expect(await result(inc.pipe(stop).pipe(never as never), 5)).toBe('at 6');
      expect(await result(quit.pipe(never as never), 5)).toContain('enough');
      expect(await result(loop, 5)).toContain('loop exceeded maxCycles (3)');
    });

    it('a step outside of the graph ends the run with it', async () => {
      const out = dynamic('out', (n: number, ctx) => ctx.goto(inc, n));
      const loom = harness.loom([...known, out]);
      await loom.worker().start();
      const run = await loom.enqueue(out.pipe(never as never) as never, 1 as never);
      expect(await settled(harness, run.result())).toBe(2);
    });

    it('that brings a group in saves the new graph under a hash of its own, and members see that', async () => {
      const loom = harness.loom(known);
      await loom.worker().start();
      const step = fan.pipe(sum as never);
      const run = (await loom.enqueue(step as never, 5 as never)) as RunHandle<unknown>;
      await settled(harness, run.result());
      const ended = (await loom.tasks.list({ state: 'finished' })).items;
      const member = ended.find((one) => one.name === '~drive' && one.id !== run.id);
      const records = await harness.backend.inspect.get([run.id, member?.id ?? '']);
      const hashes = records.map((record) => JSON.parse(record?.options ?? '{}').run.graph);
      expect(new Set(hashes).size).toBe(2);
      for (const hash of hashes)
        expect(await harness.backend.graphs.load(hash)).toMatchObject({ kind: 'found' });
      // What the handler brought in is no part of the run's own graph.
      const [own] = hashes;
      expect(JSON.stringify(await harness.backend.graphs.load(own))).not.toContain('double');
    });
  });

  describe('in a group', () => {
    it('terminate ends the run, and the other members', async () => {
      const step = parallel({ stop, wait }).pipe(never as never);
      expect(await result(step, 7)).toBe('at 7');
      await harness.clock.advance('10s');
      await harness.quiet();
      const loom = harness.loom(known);
      const canceled = (await loom.tasks.list({ state: 'canceled' })).items.map((one) => one.name);
      expect(canceled.toSorted()).toEqual(['wait', '~drive']);
    });

    it('cancelRun ends the run as canceled, before terminate', async () => {
      expect(await result(parallel({ stop, quit }).pipe(never as never), 7)).toContain('enough');
    });

    it('goto out of the member fails it; next and again stay in it', async () => {
      expect(await result(parallel({ leap, double }).pipe(never as never), 7)).toContain(
        'GotoInGroup',
      );
      const inner = parallel({ a: agent.pipe(double), b: inc });
      expect(await result(inner, 0)).toEqual({ a: 6, b: 1 });
    });

    it('terminate in a nested group ends the whole run', async () => {
      const nested = parallel({ x: parallel({ stop, double }).pipe(inc as never), wait });
      expect(await result(nested.pipe(never as never), 7)).toBe('at 7');
    });
  });

  it('after a crash the new nodes are known from the journal, by any worker', async () => {
    const calls: string[] = [];
    let isFirst = true;
    const second = task('second', async (n: number, ctx) => {
      calls.push('second');
      if (isFirst) {
        isFirst = false;
        await aborted(ctx.signal);
        throw ctx.signal.reason;
      }
      return n;
    });
    const first = task('first', (n: number) => {
      calls.push('first');
      return n + 1;
    });
    const list = task('list', (n: number) => [n]);
    const tail = dynamic('tail', (n: number, ctx) => {
      calls.push('tail');
      return ctx.next(first.pipe(second).pipe(list).pipe(each(inc)), n);
    });
    const tasks = [tail, first, second, list, inc];
    const dead = flakyBackend(harness.backend, ({ operation }) =>
      operation === 'tasks.extend' ? { holdUntil: new Promise<never>(() => undefined) } : undefined,
    );
    const doomed: Fairloom = harness.loom(tasks, { backend: dead });
    await doomed.worker().start();
    const loom = harness.loom(tasks);
    const run = await loom.enqueue(tail as never, 1 as never);
    await harness.until(() => calls.includes('second'));
    await loom.worker().start();
    await harness.clock.advance(LIMITS.leaseMs);
    expect(await settled(harness, run.result())).toEqual([3]);
    expect(calls).toEqual(['tail', 'first', 'second', 'second']);
  });
});
