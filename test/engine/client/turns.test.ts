/** The embedded backend answers at once: timers and sockets must have their turn all the same. */
import { afterEach, beforeEach, expect, it } from 'vitest';
import { task } from '../../../src/workflow/task-definition.ts';
import { type Harness, openMemory } from '../../support/backends.ts';

let harness: Harness;
beforeEach(async () => {
  harness = await openMemory();
});
afterEach(() => harness.close());

/** Turns that the event loop got while something went on. */
async function turnsDuring(act: () => Promise<void>): Promise<number> {
  let turns = 0;
  let isOver = false;
  const count = (): void => {
    turns++;
    if (!isOver) setImmediate(count);
  };
  setImmediate(count);
  await act();
  isOver = true;
  return turns;
}

it('while many tasks are enqueued one by one, and many at a time', async () => {
  const none = task('none', async () => undefined);
  const loom = harness.loom([none]);
  const single = await turnsDuring(async () => {
    for (let count = 0; count < 5_000; count++) await loom.enqueue(none);
  });
  expect(single).toBeGreaterThanOrEqual(4);
  const many = await turnsDuring(async () => {
    for (let count = 0; count < 5; count++) {
      await loom.enqueueMany(
        none,
        Array.from({ length: 1_000 }, () => undefined),
      );
    }
  });
  expect(many).toBeGreaterThanOrEqual(4);
});

it('while a worker runs tasks that do nothing', async () => {
  const none = task('none', async () => undefined);
  const loom = harness.loom([none]);
  await loom.enqueueMany(
    none,
    Array.from({ length: 5_000 }, () => undefined),
  );
  const worker = loom.worker({ concurrency: 50 });
  const turns = await turnsDuring(async () => {
    await worker.start();
    await worker.whenIdle();
  });
  expect(turns).toBeGreaterThanOrEqual(10);
  expect(await loom.tasks.counts()).toMatchObject({ finished: 5_000 });
});
