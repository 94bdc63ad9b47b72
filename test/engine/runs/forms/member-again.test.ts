/** Members that have failed are put back with their run: the same tasks, with what they have written down. */
import { expect, it } from 'vitest';
import { each, parallel } from '../../../../src/workflow/parallel.ts';
import type { Step } from '../../../../src/workflow/step.ts';
import { task } from '../../../../src/workflow/task-definition.ts';
import { eachBackend, opened } from '../../../support/backends.ts';
import { refusal, settled } from '../../../support/runs.ts';

type Made = (member: never) => Step<number, unknown>;

const two = task('two', async (_n: number) => [0, 1]);
const one = task('one', async (n: number) => [n]);

/** Wherever such a member stands in a driven run. */
const PLACES: readonly (readonly [string, Made])[] = [
  ['parallel', (member) => parallel({ a: member }).as('r') as never],
  ['each', (member) => two.pipe(each(member)).as('r') as never],
  ['each in turn', (member) => two.pipe(each(member, { concurrency: 1 })).as('r') as never],
  [
    'a group in a group',
    (member) =>
      two.pipe(each(one.pipe(each(member, { name: 'in' })), { name: 'out' })).as('r') as never,
  ],
];

eachBackend((open) => {
  const harness = opened(open);

  for (const [place, made] of PLACES) {
    // F131
    it(`a member of ${place} that failed goes on from what it has written down when its run is resumed`, async () => {
      let isBroken = true;
      let running = 0;
      let most = 0;
      const charged: number[] = [];
      const ids = new Set<string>();
      const charge = task('charge', async (n: number) => void charged.push(n));
      const ship = task('ship', { retries: 0 }, async (n: number) => {
        if (isBroken) throw new Error('broken');
        return n;
      });
      const member = task('member', { retries: 0 }, async (n: number, ctx) => {
        ids.add(ctx.taskId);
        most = Math.max(most, ++running);
        try {
          await ctx.run(charge, n);
          return await ctx.run(ship, n);
        } finally {
          running--;
        }
      });
      const run = made(member as never);
      const loom = harness.loom([run as never, charge, ship]);
      await loom.worker({ concurrency: 10 }).start();
      const { id } = await loom.enqueue(run as never, 1 as never, { form: 'driven' } as never);
      const handle = loom.runs.handle(run, id);
      await refusal(settled(harness, handle.result()));
      const paid = charged.length;
      const known = ids.size;
      expect(paid).toBe(known);
      expect((await loom.dead.list({ followers: true })).items.length).toBeGreaterThan(0);

      isBroken = false;
      await loom.runs.resume(id);
      await settled(harness, handle.result());
      // Only the first of those that wait for each other is the same task.
      const fresh = place === 'each in turn' ? 1 : 0;
      expect([charged.length, ids.size]).toEqual([paid + fresh, known + fresh]);
      expect((await loom.dead.list({ followers: true })).items).toHaveLength(fresh);
      if (place === 'each in turn') expect(most).toBe(1);
    });
  }
});
