/** How long one process keeps what has ended, when it is told to keep nothing. */
import { expect, it } from 'vitest';
import { memory } from '../../../src/backends/memory/memory-backend.ts';
import { Fairloom } from '../../../src/client/client.ts';
import { silentLogger } from '../../../src/logging/logger.ts';
import { task } from '../../../src/workflow/task-definition.ts';
import { openMemory } from '../../support/backends.ts';

const NOTHING = { finished: 0, failed: 0, canceled: 0 } as const;
const double = task('double', async (n: number) => n * 2);

async function keptOf(backend: ReturnType<typeof memory>): Promise<number> {
  const { counts } = await backend.inspect.stats();
  return counts.finished + counts.failed + counts.canceled;
}

// F73
it('a process that is told to keep nothing keeps what ended in the last second', async () => {
  const harness = await openMemory();
  const loom = harness.loom([double], { retention: { finished: 0, finishedCount: 100 } });
  await loom.worker({ concurrency: 10 }).start();
  const handles = await Promise.all(Array.from({ length: 500 }, (_, n) => loom.enqueue(double, n)));
  const results = Promise.all(handles.map((handle) => handle.result()));
  await harness.clock.advance(1);
  expect(await results).toEqual(handles.map((_, n) => n * 2));
  await harness.clock.advance(2_000);
  expect(await keptOf(harness.backend)).toBe(0);
  await harness.close();
});

// F73
it('a process that is told to keep so many keeps so many, and no more', async () => {
  const harness = await openMemory();
  const loom = harness.loom([double], { retention: { finishedCount: 100 } });
  await loom.worker({ concurrency: 10 }).start();
  const handles = await Promise.all(Array.from({ length: 500 }, (_, n) => loom.enqueue(double, n)));
  await Promise.all(handles.map((handle) => handle.result()));
  await harness.clock.advance(2_000);
  expect(await keptOf(harness.backend)).toBe(100);
  await harness.close();
});

// F73
it('each call that waits for an end reads it, however long other handlers hold the loop', async () => {
  const backend = memory();
  // Longer than a tick of the clock, so that every call in the same turn finds ended ones over.
  const busy = task('busy', async (n: number) => {
    const until = performance.now() + 3;
    while (performance.now() < until);
    return n;
  });
  const loom = new Fairloom({ backend, tasks: [busy], retention: NOTHING, log: silentLogger });
  await loom.worker({ concurrency: 7 }).start();
  const given = await Promise.all(
    Array.from({ length: 100 }, async (_, n) => (await loom.enqueue(busy, n)).result()),
  );
  expect(given).toEqual(Array.from({ length: 100 }, (_, n) => n));
  await loom.close();
});
