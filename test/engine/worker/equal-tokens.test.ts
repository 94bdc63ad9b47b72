/** Tasks of one lease may have the same token: each must be kept, canceled and settled by itself. */
import { describe, expect, it } from 'vitest';
import { task } from '../../../src/workflow/task-definition.ts';
import { eachBackend, opened } from '../../support/backends.ts';
import { aborted, observe } from '../../support/workers.ts';

eachBackend((open) => {
  const harness = opened(open);

  describe('two tasks of one lease', () => {
    it('are extended and canceled each', async () => {
      const wait = task('wait', async (_: undefined, ctx) => aborted(ctx.signal));
      const loom = harness.loom([wait]);
      const handles = await loom.enqueueMany(wait, [undefined, undefined]);
      const worker = loom.worker({ lease: '3s' });
      const seen = observe(worker);
      await worker.start();
      await seen.count('task.started', 2);
      // Three leases long: one that is not extended would be swept and started again.
      for (let second = 0; second < 9; second++) await harness.clock.advance('1s');
      expect(seen.of('task.started')).toHaveLength(2);
      const states = await Promise.all(handles.map(({ id }) => loom.tasks.get(id)));
      expect(states.map((found) => [found?.state, found?.losses])).toEqual([
        ['started', 0],
        ['started', 0],
      ]);
      for (const { id } of handles) {
        expect(await loom.tasks.cancel(id)).toMatchObject({ kind: 'requested' });
      }
      await seen.count('task.canceled', 2);
      expect(worker.running).toBe(0);
    });
  });
});
