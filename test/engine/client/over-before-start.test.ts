/** What a client shows of tasks whose time to start is over while no worker lives. */
import { describe, expect, it } from 'vitest';
import { task } from '../../../src/workflow/task-definition.ts';
import { eachBackend, opened } from '../../support/backends.ts';

const work = task('work', async (n: number) => n);
const DEAD = 300;

eachBackend((open) => {
  const harness = opened(open);

  describe('tasks whose time to start is over', () => {
    // F81
    it('count in no position, no explanation and no sum, though no worker lives', async () => {
      const loom = harness.loom([work]);
      const inputs = Array.from({ length: DEAD }, (_, n) => n);
      await loom.enqueueMany(work, inputs, { expiresIn: '100ms' });
      const last = await loom.enqueue(work, DEAD);
      expect(await loom.tasks.position(last.id)).toMatchObject({ place: DEAD + 1 });
      await harness.jump(5_000);
      expect(await loom.tasks.position(last.id)).toMatchObject({ place: 1, turnsBefore: 0 });
      expect((await loom.tasks.explain(last.id)).position).toMatchObject({ place: 1 });
      expect(await loom.tasks.counts()).toMatchObject({ queued: 1, failed: DEAD });
    });

    // F81
    it('do not start when the first worker comes late', async () => {
      const started: number[] = [];
      const late = task('late', async (n: number) => {
        started.push(n);
      });
      const loom = harness.loom([late]);
      const inputs = Array.from({ length: DEAD }, (_, n) => n);
      await loom.enqueueMany(late, inputs, { expiresIn: '100ms' });
      const last = await loom.enqueue(late, DEAD);
      await harness.jump(5_000);
      await loom.worker({ concurrency: 10 }).start();
      await harness.until(async () => (await loom.tasks.get(last.id))?.state === 'finished');
      expect(started).toEqual([DEAD]);
    });
  });
});
