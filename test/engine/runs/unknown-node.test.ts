/** Driven runs whose code is missing, and what is shown of those that are under way or failed. */
import { describe, expect, it } from 'vitest';
import type { Fairloom } from '../../../src/client/client.ts';
import { LIMITS } from '../../../src/domain/limits.ts';
import { each, parallel } from '../../../src/workflow/parallel.ts';
import { task } from '../../../src/workflow/task-definition.ts';
import { eachBackend, opened } from '../../support/backends.ts';
import { gate } from '../../support/gate.ts';
import { refusal, settled } from '../../support/runs.ts';
import { observe } from '../../support/workers.ts';

const driven = { form: 'driven' } as const;

eachBackend((open) => {
  const harness = opened(open);

  const inc = task('inc', async (n: number) => n + 1);
  const unknown = task('strange', async (n: number) => n * 10);
  const whole = inc.pipe(unknown);

  describe('a node whose code no worker has', () => {
    it('gives its run back for longer and longer, and fails after an hour', async () => {
      const loom = harness.loom([inc]);
      const worker = loom.worker();
      const seen = observe(worker);
      await worker.start();
      const run = await loom.enqueue(whole, 1, driven);
      const begun = harness.clock.now();
      const error = await settled(harness, refusal(run.result()));
      expect(error).toMatchObject({ failureType: 'unknown-task', node: 'strange' });
      const lasted = harness.clock.now() - begun;
      expect(lasted).toBeGreaterThanOrEqual(LIMITS.unknownTaskMs);
      expect(lasted).toBeLessThan(LIMITS.unknownTaskMs + 2 * LIMITS.unknownNodeMaxMs);
      const releases = seen.of('task.released').length;
      expect(releases).toBeGreaterThan(60);
      expect(releases).toBeLessThan(70);
      // Put back, it has its whole time again, and runs where its code is.
      await harness.loom([whole]).worker().start();
      await worker.stop({ grace: 0 });
      await loom.runs.resume(run.id);
      expect(await settled(harness, run.result())).toBe(20);
    });

    it('is waited for as long as a live worker has it', async () => {
      const loom = harness.loom([inc]);
      await loom.worker().start();
      // It knows the node, and never comes to lease the run.
      const other = harness.loom([unknown]).worker({ queues: ['other'] });
      await other.start();
      const run = await loom.enqueue(whole, 1, driven);
      await harness.clock.advance('20m');
      await harness.clock.advance('25m');
      await harness.clock.advance('25m');
      await harness.quiet();
      expect(await loom.tasks.get(run.id)).toMatchObject({ state: 'scheduled' });
      await loom.runs.cancel(run.id);
    });
  });

  it('a driven run that failed names the node, and one that was lost itself', async () => {
    let isBroken = true;
    const fail = task('fail', { retries: 0 }, async (n: number) => {
      if (isBroken) throw new RangeError('mine');
      return n;
    });
    const hang = task(
      'hang',
      { timeout: 'none' },
      (_: number) => new Promise<number>(() => undefined),
    );
    const loom = harness.loom([inc, fail, hang]);
    await loom.worker().start();
    const run = await loom.enqueue(inc.pipe(fail).pipe(hang), 1, { ...driven, timeout: '5s' });
    expect(await settled(harness, refusal(run.result()))).toMatchObject({
      node: 'fail',
      message: `node "fail" of run ${run.id} failed (error): mine`,
    });
    isBroken = false;
    await loom.runs.resume(run.id);
    const error = (await settled(harness, refusal(run.result()))) as Error;
    expect(error).toMatchObject({ node: '', failureType: 'timeout' });
    expect(error.message).toMatch(new RegExp(`^run ${run.id} failed \\(timeout\\)`));
  });

  describe('nodes inside of groups', () => {
    const states = async (
      loom: Fairloom,
      id: string,
    ): Promise<Readonly<Record<string, string>>> => {
      const nodes = (await loom.runs.get(id))?.nodes ?? [];
      return Object.fromEntries(nodes.map(({ node, state }) => [node, state]));
    };

    it('are shown as their members stand', async () => {
      const wait = gate();
      const hold = task('hold', async (n: number) => {
        await wait.passed;
        return n;
      });
      const fail = task('fail', { retries: 0 }, async (_: number): Promise<number> => {
        throw new Error('mine');
      });
      const members = parallel(
        { inc, hold, fail, pair: inc.as('one').pipe(hold.as('two')) },
        { policy: 'bestEffort' },
      );
      const first = members.as('first');
      const loom = harness.loom([first]);
      await loom.worker({ concurrency: 8 }).start();
      const run = await loom.enqueue(first as never, 1 as never, driven);
      await harness.until(async () => (await states(loom, run.id))['hold'] === 'started');
      await harness.quiet();
      expect(await states(loom, run.id)).toMatchObject({
        inc: 'finished',
        hold: 'started',
        fail: 'failed',
        one: 'pending',
        two: 'pending',
      });
      wait.open();
      await settled(harness, run.result());
      expect(await states(loom, run.id)).toMatchObject({
        inc: 'finished',
        hold: 'finished',
        fail: 'failed',
        one: 'finished',
        two: 'finished',
      });
    });

    it('one node stands for all elements of each', async () => {
      const wait = gate();
      const hold = task('hold', async (n: number) => {
        if (n === 2) await wait.passed;
        return n;
      });
      const loom = harness.loom([hold]);
      await loom.worker({ concurrency: 8 }).start();
      const run = await loom.enqueue(each(hold), [1, 2]);
      await harness.until(async () => (await loom.tasks.get(run.id))?.state === 'deferred');
      await harness.quiet();
      expect(await states(loom, run.id)).toMatchObject({ hold: 'started' });
      wait.open();
      await settled(harness, run.result());
      expect(await states(loom, run.id)).toMatchObject({ hold: 'finished' });
    });
  });
});
