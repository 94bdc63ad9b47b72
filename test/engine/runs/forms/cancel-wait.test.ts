/** A cancel that waits: it is over when every handler of the run is, at any depth. */
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { RunForm } from '../../../../src/runs/run-options.ts';
import { each, parallel } from '../../../../src/workflow/parallel.ts';
import type { Pipeline } from '../../../../src/workflow/step.ts';
import { task } from '../../../../src/workflow/task-definition.ts';
import { eachBackend, type Harness } from '../../../support/backends.ts';
import { type Gate, gate } from '../../../support/gate.ts';

eachBackend((open) => {
  let harness: Harness;
  let may: Gate;
  let running: number;
  beforeEach(async () => {
    harness = await open();
    may = gate();
    running = 0;
  });
  afterEach(async () => {
    may.open();
    await harness.close();
  });

  /** Does not look at its signal. */
  const slow = task('slow', { retries: 0 }, async (n: unknown) => {
    running++;
    await may.passed;
    running--;
    return n;
  });
  const fin = task('fin', async (n: unknown) => n);
  const pair = parallel({ a: slow.as('a'), b: slow.as('b') }, { name: 'pair' });
  const asks = task('asks', { retries: 0 }, async (n: number, ctx) => ctx.run(pair, n));
  const grid = each(each(slow, { name: 'in' }), { name: 'out' });
  const deep = each(parallel({ g: each(slow, { name: 'in' }), h: slow.as('h') }), { name: 'out' });

  /** Wherever handlers of a run stand: with the input, and how many are under way at once. */
  const PLACES: readonly (readonly [string, RunForm, Pipeline<never, unknown>, unknown, number])[] =
    [
      ['a node of its own task', 'dispatched', slow.pipe(fin), 1, 1],
      ['a node in place', 'driven', slow.pipe(fin), 1, 1],
      ['members of parallel as nodes', 'dispatched', pair.pipe(fin), 1, 2],
      ['members of parallel', 'driven', pair.pipe(fin), 1, 2],
      ['members of each', 'driven', each(slow).pipe(fin), [1, 2], 2],
      ['members of members', 'driven', grid.pipe(fin), [[1, 2], [3]], 3],
      ['members three levels deep', 'driven', deep.pipe(fin), [[1, 2], [3]], 5],
      ['a group that a node runs', 'dispatched', asks.pipe(fin), 1, 2],
      ['a group that a node in place runs', 'driven', asks.pipe(fin), 1, 2],
      ['a group that a member runs', 'driven', each(asks).pipe(fin), [1, 2], 4],
    ];

  for (const [name, form, step, input, count] of PLACES) {
    // F138
    it(`a cancel of a ${form} run that waits is over when the handlers of ${name} are`, async () => {
      const shape = step.as('shape');
      const loom = harness.loom([shape, pair]);
      await loom.worker({ concurrency: 20 }).start();
      const run = await loom.enqueue(shape, input as never, { form });
      await harness.until(() => running === count);
      await harness.quiet();

      let isOver = false;
      const canceled = loom.runs.cancel(run.id, { wait: true }).then((report) => {
        isOver = true;
        return report;
      });
      await harness.quiet();
      expect(isOver).toBe(false);
      // One that asks again, when nothing of the run can be found by its own task any more.
      const again = loom.runs.cancel(run.id, { wait: true }).then(() => running);
      await harness.quiet();

      may.open();
      const report = await canceled;
      expect(report.run.kind).toMatch(/^(requested|canceled)$/);
      const requested = report.nodes.filter(({ reply }) => reply.kind === 'requested');
      // A node in place is the run's own task.
      expect(requested).toHaveLength(name === 'a node in place' ? 0 : count);
      expect(running).toBe(0);
      expect(await again).toBe(0);
      const { started, queued, deferred, scheduled } = await loom.tasks.counts();
      expect({ started, queued, deferred, scheduled }).toEqual({
        started: 0,
        queued: 0,
        deferred: 0,
        scheduled: 0,
      });
    });
  }
});
