/** The id of a worker, and who else may have it. */
import { expect, it } from 'vitest';
import { LIMITS } from '../../../src/domain/limits.ts';
import { flakyBackend } from '../../../src/testing/flaky-backend.ts';
import { task } from '../../../src/workflow/task-definition.ts';
import { everyBackend, opened } from '../../support/backends.ts';
import { gate } from '../../support/gate.ts';
import { observe } from '../../support/workers.ts';

everyBackend((open) => {
  const harness = opened(open);

  // F139
  it('is refused to a second worker while the first lives, which goes on and stays listed', async () => {
    const end = gate();
    const slow = task('slow', async () => end.passed);
    const loom = harness.loom([slow]);
    const first = loom.worker({ id: 'same' });
    await first.start();
    const handle = await loom.enqueue(slow);
    const second = harness.loom([slow]).worker({ id: 'same' });
    const seen = observe(second);
    const started = second.start().then(
      () => 'started',
      (error: unknown) => error,
    );
    await seen.count('worker.error', 1);
    for (let seconds = 0; seconds < 12; seconds++) await harness.clock.advance('1s');
    expect(await started).toMatchObject({ code: 'INVALID_OPTION', option: 'id' });
    expect(await loom.workers.list()).toMatchObject([{ id: 'same', running: 1 }]);
    end.open();
    await handle.result();
    expect(first.isHealthy).toBe(true);
  });

  // F139
  it('is free as soon as its worker has stopped, and for one that comes after a death a while later', async () => {
    const quick = task('quick', async () => 'ran');
    const loom = harness.loom([quick]);
    const first = loom.worker({ id: 'same' });
    await first.start();
    await first.stop();
    const second = loom.worker({ id: 'same' });
    await second.start();
    // Nothing is heard of it any more.
    second.abandon();
    const third = loom.worker({ id: 'same' });
    const started = third.start();
    const { length } = await loom.workers.list();
    expect(length).toBe(1);
    await harness.clock.advance(LIMITS.workerIdMs + 1_000);
    await started;
    expect(await (await loom.enqueue(quick)).result()).toBe('ran');
  });

  // F139
  it('is never refused to its own worker, whichever replies were lost', async () => {
    const quick = task('quick', async () => 'ran');
    let lost = 0;
    const backend = flakyBackend(harness.backend, ({ operation }) =>
      operation === 'workers.register' && lost++ < 3 ? 'lose-reply' : undefined,
    );
    const loom = harness.loom([quick], { backend });
    const worker = loom.worker({ id: 'same' });
    const seen = observe(worker);
    const started = worker.start();
    for (let count = 1; count <= 3; count++) {
      await seen.count('worker.error', count);
      await harness.clock.advance('500ms');
    }
    await started;
    expect(lost).toBe(4);
    expect(await (await loom.enqueue(quick)).result()).toBe('ran');
  });
});
