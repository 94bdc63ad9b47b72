/** Who is not wanted any more hears of it at once, if it runs in this process, and frees its slot. */
import { beforeEach, describe, expect, it } from 'vitest';
import type { Fairloom } from '../../../src/client/client.ts';
import type { RunHandle } from '../../../src/runs/calls/run-handle.ts';
import { each, parallel } from '../../../src/workflow/parallel.ts';
import { task } from '../../../src/workflow/task-definition.ts';
import { eachBackend, opened } from '../../support/backends.ts';
import { gate } from '../../support/gate.ts';
import { aborted } from '../../support/workers.ts';

eachBackend((open) => {
  const harness = opened(open);
  let fail = gate();
  let begun: string[];
  let told: string[];
  beforeEach(async () => {
    fail = gate();
    begun = [];
    told = [];
  });

  const breaks = task('breaks', { retries: 0 }, async (_: unknown) => {
    begun.push('breaks');
    await fail.passed;
    throw new Error('broken');
  });
  const waits = task('waits', { retries: 0 }, async (name: unknown, ctx) => {
    begun.push(`waits ${name}`);
    await aborted(ctx.signal);
    told.push(`${name}`);
    return 'told';
  });
  const list = task('list', (_: unknown) => ['x', 'y']);
  const asks = task('asks', { retries: 0 }, (n: unknown, ctx) =>
    ctx.run(list.pipe(each(waits)), n),
  );
  const fan = list.pipe(each(waits, { name: 'inner' }));
  const fast = parallel({ breaks, waits }, { name: 'fast', failFast: true });
  const most = parallel(
    { breaks, second: breaks.as('second'), waits },
    { name: 'most', failFast: true, policy: { atLeast: 2 } },
  );
  const timed = parallel({ waits }, { name: 'timed', timeout: '1s' });
  const deep = parallel({ breaks, fan, asks }, { name: 'deep', failFast: true });
  const deeper = parallel({ a: parallel({ b: fan }, { name: 'mid' }), asks }, { name: 'deeper' });
  const known = [fast, most, timed, deep, deeper];

  const start = (loom: Fairloom, step: unknown, options = {}): Promise<RunHandle<unknown>> =>
    loom.enqueue(step as never, 'z' as never, options as never) as Promise<RunHandle<unknown>>;

  /** Runs it until so many handlers have begun. Time stands still from then on. */
  async function running(step: unknown, handlers: number): Promise<[Fairloom, RunHandle<unknown>]> {
    const loom = harness.loom(known);
    await loom.worker({ concurrency: 8 }).start();
    const run = await start(loom, step);
    await harness.until(() => begun.length === handlers);
    await harness.quiet();
    return [loom, run];
  }

  /** Nothing runs, and nothing is kept for later. */
  async function demandOver(loom: Fairloom): Promise<void> {
    await harness.until(async () => {
      const { started, queued, deferred, scheduled } = await loom.tasks.counts();
      return started + queued + deferred + scheduled === 0;
    });
  }

  describe('members that are not wanted any more', () => {
    // F14
    it.each(['fast', 'most'] as const)('hear of a failure at once: %s', async (name) => {
      const [loom] = await running({ fast, most }[name], name === 'fast' ? 2 : 3);
      fail.open();
      await harness.until(() => told.length === 1);
      await demandOver(loom);
      expect(told).toEqual(['z']);
    });

    // F14
    it('so do members of members, and of groups that handlers run', async () => {
      const [loom] = await running(deep, 5);
      fail.open();
      await harness.until(() => told.length === 4);
      await demandOver(loom);
      expect(told.sort()).toEqual(['x', 'x', 'y', 'y']);
    });

    // F14
    it('hear of it when the time of their group is over', async () => {
      const [loom] = await running(timed, 1);
      await harness.clock.advance(1_000);
      await harness.until(() => told.length === 1);
      await demandOver(loom);
      expect(told).toEqual(['z']);
    });

    // F14
    it('hear of it through another client of the process too', async () => {
      const far = parallel(
        { breaks, waits: task('waits', { retries: 0, queue: 'elsewhere' }, waits0) },
        { name: 'far', failFast: true },
      );
      const third = harness.loom([far]);
      await third.worker({ concurrency: 8, queues: ['elsewhere'] }).start();
      const loom = harness.loom([far]);
      await loom.worker({ concurrency: 8 }).start();
      await start(loom, far);
      await harness.until(() => begun.length === 2);
      fail.open();
      await harness.until(() => told.length === 1);
      await demandOver(loom);
      expect(told).toEqual(['z']);
    });

    it.each(['runs.cancel', 'tasks.cancel'] as const)(
      // F14 F2
      'hear of a cancel of the run at once, however deep they are: %s',
      async (call) => {
        const [loom, run] = await running(deeper, 4);
        if (call === 'runs.cancel') await loom.runs.cancel(run.id);
        else await loom.tasks.cancel(run.id);
        await harness.until(() => told.length === 4);
        await demandOver(loom);
        expect((await loom.runs.get(run.id))?.state).toBe('canceled');
      },
    );

    // F14
    it('a cancel of one member takes its own members along, and no other', async () => {
      const [loom, run] = await running(deeper, 4);
      const nodes = (await loom.runs.get(run.id))?.nodes ?? [];
      const member = nodes.find(({ node }) => node === 'deeper/a');
      await loom.tasks.cancel(member?.taskId ?? '');
      await harness.until(() => told.length === 2);
      await harness.quiet();
      expect(told.sort()).toEqual(['x', 'y']);
      await loom.runs.cancel(run.id);
      await demandOver(loom);
    });

    it.each(['driven', 'dispatched'] as const)(
      // F14
      'a cancel leaves alone what a run depends on: %s',
      async (form) => {
        const [loom, first] = await running(fast, 2);
        const pair = list.pipe(waits.as('later')).as('pair');
        const behind = await start(harness.loom([pair]), pair, { dependsOn: [first.id], form });
        await loom.tasks.cancel(behind.id);
        await harness.quiet();
        expect(told).toEqual([]);
        expect((await loom.runs.get(first.id))?.state).toBe('deferred');
        expect((await loom.runs.get(behind.id))?.state).toBe('canceled');
        await loom.runs.cancel(first.id);
        fail.open();
        await demandOver(loom);
      },
    );
  });

  async function waits0(name: unknown, ctx: { readonly signal: AbortSignal }): Promise<string> {
    begun.push(`waits ${name}`);
    await aborted(ctx.signal);
    told.push(`${name}`);
    return 'told';
  }
});
