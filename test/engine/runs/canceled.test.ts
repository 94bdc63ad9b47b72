/** What a handler gives after it was asked to end is no result, wherever the handler runs. */
import { beforeEach, describe, expect, it } from 'vitest';
import type { Fairloom } from '../../../src/client/client.ts';
import type { RunHandle } from '../../../src/runs/calls/run-handle.ts';
import type { RunForm } from '../../../src/runs/run-options.ts';
import { channel } from '../../../src/workflow/channel.ts';
import { each, parallel } from '../../../src/workflow/parallel.ts';
import type { TaskContext } from '../../../src/workflow/task-context.ts';
import { dynamic, task } from '../../../src/workflow/task-definition.ts';
import { eachBackend, opened } from '../../support/backends.ts';
import { type Gate, gate } from '../../support/gate.ts';
import { settled } from '../../support/runs.ts';
import { aborted } from '../../support/workers.ts';

const log = channel<{ lines: string[] }>('log');
const FORMS: readonly RunForm[] = ['driven', 'dispatched'];

eachBackend((open) => {
  const harness = opened(open);
  let begun: Gate;
  /** Opened when the handler may give its value though it was not told to end. */
  let may: Gate;
  let calls: string[];
  beforeEach(async () => {
    begun = gate();
    may = gate();
    calls = [];
  });

  /** Gives a partial value the first time, when it is told to end or may; a whole one later. */
  async function work(n: number, ctx: TaskContext): Promise<string> {
    calls.push('s2');
    if (calls.filter((call) => call === 's2').length > 1) return `whole ${n}`;
    await ctx.channel(log).append('lines', 'partial');
    await ctx.xcom.push('sum', n);
    begun.open();
    await Promise.race([aborted(ctx.signal), may.passed]);
    return 'partial';
  }

  const s1 = task('s1', async (n: number) => {
    calls.push('s1');
    return n + 1;
  });
  const s2 = task('s2', { retries: 0, xcom: true }, work);
  const s2timed = task('s2timed', { retries: 0, timeout: '1s' }, work);
  const chooses = dynamic('chooses', { retries: 0 }, async (n: number, ctx) => {
    const value = await work(n, ctx);
    return ctx.next(
      task('show', (text: string) => text),
      value,
    );
  });
  const list = task('list', (n: number) => [n]);
  const asks = task('asks', { retries: 0 }, async (n: number, ctx) => ctx.run(s2, n));
  const line = s1.pipe(s2).as('line');
  const choosing = s1.pipe(chooses).as('choosing');
  const fan = s1
    .pipe(list)
    .pipe(each(s2, { name: 'fan' }))
    .as('fanned');
  const deep = s1.pipe(parallel({ a: list.pipe(each(s2, { name: 'fan' })) })).as('deep');
  const inside = s1.pipe(asks).as('inside');
  const known = [line, choosing, fan, deep, inside, s2timed];

  async function working(): Promise<Fairloom> {
    const loom = harness.loom(known);
    await loom.worker({ concurrency: 5 }).start();
    return loom;
  }

  const start = (loom: Fairloom, step: unknown, form?: RunForm): Promise<RunHandle<unknown>> =>
    loom.enqueue(
      step as never,
      1 as never,
      (form === undefined ? {} : { form }) as never,
    ) as Promise<RunHandle<unknown>>;

  /** Nothing that the canceled handler gave is anywhere, and a rerun calls it again. */
  async function demandNothing(loom: Fairloom, run: RunHandle<unknown>): Promise<void> {
    await harness.until(async () => (await loom.tasks.get(run.id))?.state === 'canceled');
    expect(JSON.stringify(await harness.backend.runs.load(run.id))).not.toContain('partial');
    expect(await loom.runs.channels(run.id)).toEqual({});
    expect((await loom.xcom.list()).items).toEqual([]);
    const again = await loom.runs.rerun(run.id);
    expect(JSON.stringify(await settled(harness, again.result()))).toContain('whole 2');
    expect(calls).toEqual(['s1', 's2', 's2']);
  }

  describe('after a cancel', () => {
    // F2
    it.each(FORMS)('the value that a node returns is no result: %s', async (form) => {
      const loom = await working();
      const run = await start(loom, line, form);
      await settled(harness, begun.passed);
      await run.cancel();
      await demandNothing(loom, run);
    });

    // F2
    it.each(FORMS)('also of one of which its worker has not heard yet: %s', async (form) => {
      const loom = await working();
      const run = await start(loom, line, form);
      await settled(harness, begun.passed);
      const nodes =
        form === 'driven'
          ? [run.id]
          : (await loom.tasks.list({ state: 'started' })).items.map(({ id }) => id);
      for (const id of [...nodes, run.id])
        await harness.backend.tasks.cancel(id, { type: 'request' });
      may.open();
      await demandNothing(loom, run);
    });

    it.each([
      'a dynamic node',
      'a member',
      'a member of a member',
      'a step that a handler runs',
      // F2
    ] as const)('nor is that of %s', async (what) => {
      const step = {
        'a dynamic node': choosing,
        'a member': fan,
        'a member of a member': deep,
        'a step that a handler runs': inside,
      }[what];
      const loom = await working();
      const run = await start(loom, step);
      await settled(harness, begun.passed);
      await loom.runs.cancel(run.id);
      await demandNothing(loom, run);
    });
  });

  describe('after its timeout', () => {
    it.each([
      ['a task that stands alone', undefined],
      ['a driven node', 'driven'],
      ['a dispatched node', 'dispatched'],
      ['a member', undefined],
      // F2
    ] as const)('what %s returns is no result', async (what, form) => {
      const member = list.pipe(each(s2timed));
      const step = form ? s1.pipe(s2timed) : what === 'a member' ? member : s2timed;
      const loom = await working();
      const run = await start(loom, step, form);
      const error = await settled(harness, run.result()).catch((thrown: unknown) => String(thrown));
      expect(error).toContain('timeout of 1000 ms');
      expect(JSON.stringify(await harness.backend.runs.load(run.id))).not.toContain('partial');
      expect(await loom.runs.channels(run.id)).toEqual({});
    });

    // F2
    it('so it is with a run here and now', async () => {
      const loom = await working();
      const result = loom.run(s1.pipe(s2timed), 1);
      await expect(settled(harness, result)).rejects.toThrow('timeout of 1000 ms');
    });

    // F2
    it('a run whose own time is over writes nothing more down', async () => {
      const loom = await working();
      const run = (await loom.enqueue(
        line as never,
        1 as never,
        {
          form: 'driven',
          timeout: '1s',
        } as never,
      )) as RunHandle<unknown>;
      await expect(settled(harness, run.result())).rejects.toThrow('timeout of 1000 ms');
      expect(JSON.stringify(await harness.backend.runs.load(run.id))).not.toContain('partial');
    });
  });

  describe('after a shutdown has begun', () => {
    // F2
    it.each(FORMS)('what is done is done, and not done again: %s', async (form) => {
      const loom = harness.loom(known);
      const worker = loom.worker();
      await worker.start();
      const run = await start(loom, line, form);
      await settled(harness, begun.passed);
      await settled(harness, worker.stop({ grace: '1s' }));
      await loom.worker().start();
      expect(await settled(harness, run.result())).toBe('partial');
      expect(calls).toEqual(['s1', 's2']);
    });
  });
});
