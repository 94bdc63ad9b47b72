/** Who waits for a result looks again when a connection breaks, and is told when it stays broken. */
import { expect, it } from 'vitest';
import { BackendUnavailableError } from '../../../src/domain/errors/errors.ts';
import { type FaultPlan, flakyBackend } from '../../../src/testing/flaky-backend.ts';
import { task } from '../../../src/workflow/task-definition.ts';
import { everyBackend, opened } from '../../support/backends.ts';

const work = task('work', async (n: number) => n + 1);

everyBackend((open) => {
  const harness = opened(open);

  const openLoom = (plan: FaultPlan) =>
    harness.loom([work], { backend: flakyBackend(harness.backend, plan) });

  it.each([1, 2])('a result is waited for although %d looks fail', async (times) => {
    let failed = 0;
    const loom = openLoom(({ operation, count }) => {
      if (operation !== 'inspect.waitForEnd' || count > times) return undefined;
      failed++;
      return 'lose-request';
    });
    const handle = await loom.enqueue(work, 1);
    const result = handle.result();
    await harness.until(async () => failed === times);
    await loom.worker().start();
    expect(await result).toBe(2);
  });

  it('a result is no longer waited for once three looks in a row have failed', async () => {
    let failed = 0;
    const loom = openLoom(({ operation }) => {
      if (operation !== 'inspect.waitForEnd') return undefined;
      failed++;
      return 'lose-request';
    });
    const handle = await loom.enqueue(work, 1);
    await expect(handle.result()).rejects.toBeInstanceOf(BackendUnavailableError);
    expect(failed).toBe(3);
  });
});
