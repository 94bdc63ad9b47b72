/** Where members run in turn, none starts behind one that has failed a `failFast` group. */
import { afterEach, beforeEach, expect, it } from 'vitest';
import { each } from '../../../../src/workflow/parallel.ts';
import { task } from '../../../../src/workflow/task-definition.ts';
import { everyBackend, type Harness } from '../../../support/backends.ts';
import { refusal, settled } from '../../../support/runs.ts';

everyBackend((open) => {
  let harness: Harness;
  beforeEach(async () => {
    harness = await open();
  });
  afterEach(() => harness.close());

  // F84
  it('stored or here and now, the member behind the one that failed does not start', async () => {
    const log: number[] = [];
    const step = task('step', { retries: 0 }, async (n: number) => {
      log.push(n);
      if (n === 2) throw new Error('no 2');
      return n;
    });
    const inTurn = each(step, { concurrency: 1, failFast: true }).as('in-turn');
    const loom = harness.loom([inTurn]);
    await loom.worker({ concurrency: 5 }).start();
    await refusal(loom.run(inTurn, [0, 1, 2, 3, 4, 5]));
    expect(log).toEqual([0, 1, 2]);
    log.length = 0;
    const run = await loom.enqueue(inTurn, [0, 1, 2, 3, 4, 5]);
    expect(await refusal(settled(harness, run.result()))).toMatchObject({ code: 'RUN_FAILED' });
    await harness.quiet();
    expect(log).toEqual([0, 1, 2]);
  });
});
