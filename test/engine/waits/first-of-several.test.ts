/** A handler that waits for the first of several: waits of its task, and work of its own. */
import { describe, expect, it } from 'vitest';
import { event } from '../../../src/workflow/event.ts';
import { parallel } from '../../../src/workflow/parallel.ts';
import { signal } from '../../../src/workflow/signal.ts';
import type { TaskContext } from '../../../src/workflow/task-context.ts';
import { task } from '../../../src/workflow/task-definition.ts';
import { eachBackend, type Harness, opened } from '../../support/backends.ts';
import { gate } from '../../support/gate.ts';
import { settled } from '../../support/runs.ts';

const go = signal<string>('go');

/** What a handler may wait for, for an hour. */
const WAITS: Readonly<Record<string, (ctx: TaskContext) => Promise<unknown>>> = {
  time: (ctx) => ctx.sleep('1h'),
  signal: (ctx) => ctx.waitFor(go, { timeout: '1h' }),
  event: (ctx) => ctx.waitFor(event('paid', 'k'), { timeout: '1h' }),
  ask: (ctx) => ctx.ask({ title: 'q', choices: ['y'], timeout: '1h' }),
  group: (ctx) => ctx.run(slowGroup, 1),
};
const never = task('never', async (n: number, ctx) => {
  await ctx.sleep('1h');
  return n;
});
const slowGroup = parallel({ a: never.as('a'), b: never.as('b') });

/** Where a handler waits. */
const FORMS = ['task', 'driven'] as const;

eachBackend((open) => {
  const harness = opened(open);

  const states = async (loom: ReturnType<Harness['loom']>): Promise<number> => {
    const { deferred } = await loom.tasks.counts();
    return deferred;
  };

  describe('a handler that ends while it waits', () => {
    const cases = FORMS.flatMap((form) => Object.keys(WAITS).map((name) => [name, form] as const));

    // F79
    it.each(cases)('for %s settles with what it returned (%s)', async (name, form) => {
      let starts = 0;
      const work = gate();
      const racing = task('racing', { retries: 0 }, async (_: number, ctx) => {
        starts++;
        const wait = WAITS[name]?.(ctx).then(() => 'the wait');
        const own = work.passed.then(() => 'own work');
        const first = await Promise.race([wait, own]);
        ctx.log.info('raced', { first });
        await ctx.metadata.set('first', first);
        await ctx.stream('out').write(first);
        return first;
      });
      const last = task('last', async (said: string | undefined) => `${said}!`);
      const step = form === 'driven' ? racing.pipe(last) : racing;
      const loom = harness.loom([step, never]);
      await loom.worker().start();
      const handle = await loom.enqueue(step as typeof racing, 1);
      await harness.until(async () => (await states(loom)) >= 1);
      const begun = harness.clock.now();
      work.open();
      const said = form === 'driven' ? 'own work!' : 'own work';
      expect(await settled(harness, handle.result())).toBe(said);
      expect(harness.clock.now() - begun).toBeLessThan(60_000);
      expect(starts).toBe(1);
      expect(await loom.asks.list()).toEqual({ items: [] });
    });

    // F79
    it.each(cases)('for %s settles with what it threw (%s)', async (name, form) => {
      let starts = 0;
      const work = gate();
      const racing = task(
        'racing',
        { retries: 1, backoff: { base: 0 } },
        async (_: number, ctx) => {
          starts++;
          if (starts > 1) return 'again';
          void WAITS[name]?.(ctx).catch(() => undefined);
          await work.passed;
          throw new Error('work failed');
        },
      );
      const last = task('last', async (said: string) => `${said}!`);
      const step = form === 'driven' ? racing.pipe(last) : racing;
      const loom = harness.loom([step, never]);
      await loom.worker().start();
      const handle = await loom.enqueue(step as typeof racing, 1);
      await harness.until(async () => (await states(loom)) >= 1);
      const begun = harness.clock.now();
      work.open();
      const said = form === 'driven' ? 'again!' : 'again';
      expect(await settled(harness, handle.result())).toBe(said);
      expect(harness.clock.now() - begun).toBeLessThan(60_000);
      expect(starts).toBe(2);
    });
  });
});
