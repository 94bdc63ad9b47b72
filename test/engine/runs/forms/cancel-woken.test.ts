/** A task that was woken before its group has ended, and is canceled then: its members that run hear of it at once. */
import { expect, it } from 'vitest';
import { each } from '../../../../src/workflow/parallel.ts';
import { task } from '../../../../src/workflow/task-definition.ts';
import { eachBackend, opened } from '../../../support/backends.ts';
import { gate } from '../../../support/gate.ts';

eachBackend((open) => {
  const harness = opened(open);

  it.each(['task', 'dispatched'] as const)('a canceled %s asks them to end', async (form) => {
    const [fail, free] = [gate(), gate()];
    const [begun, told]: [number[], number[]] = [[], []];
    const member = task('member', { retries: 0 }, async (n: number, ctx) => {
      begun.push(n);
      if (n === 1) {
        await fail.passed;
        throw new Error('no 1');
      }
      await new Promise<void>((resolve) => ctx.signal.addEventListener('abort', () => resolve()));
      told.push(n);
      return n;
    });
    const asks = task('asks', { retries: 0 }, (all: number[], ctx) =>
      ctx.run(each(member, { failFast: true }), all),
    );
    const fin = task('fin', async (given: unknown) => given);
    const whole = asks.pipe(fin).as('whole');
    const block = task('block', async () => free.passed);
    const own = harness.loom([whole, block]);
    await own.worker({ concurrency: 1 }).start();
    await harness.loom([member]).worker({ concurrency: 5 }).start();
    const input = [1, 2, 3];
    const { id } =
      form === 'task' ? await own.enqueue(asks, input) : await own.enqueue(whole, input, { form });
    await harness.until(() => begun.length === 3);
    await harness.quiet();
    // The only slot of its worker is another's when it is woken.
    await own.enqueue(block, undefined);
    await harness.quiet();
    fail.open();
    await harness.until(async () => (await own.tasks.counts()).queued > 0);
    if (form === 'task') await own.tasks.cancel(id);
    else await own.runs.cancel(id);
    await harness.until(() => told.length === 2);
    expect(told.sort()).toEqual([2, 3]);
    free.open();
  });
});
