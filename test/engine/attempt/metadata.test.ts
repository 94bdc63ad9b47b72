/** Metadata: what a run tells of itself, seen by readers while it goes on. */
import { describe, expect, it } from 'vitest';
import { InvalidOptionError, InvalidPayloadError } from '../../../src/domain/errors/errors.ts';
import { LIMITS } from '../../../src/domain/limits.ts';
import { channel } from '../../../src/workflow/channel.ts';
import { each } from '../../../src/workflow/parallel.ts';
import { task } from '../../../src/workflow/task-definition.ts';
import { eachBackend, opened } from '../../support/backends.ts';
import { gate } from '../../support/gate.ts';
import { refusal, settled } from '../../support/runs.ts';

const FORMS = ['dispatched', 'driven'] as const;
const fast = { backoff: { base: 0 } } as const;

const told = task('told', async (n: number, ctx) => {
  await ctx.metadata.set('last', n);
  await ctx.metadata.set(`of ${n}`, { n });
  return n;
});
const stats = channel<{ count: number }>('stats');

eachBackend((open) => {
  const harness = opened(open);

  describe('metadata', () => {
    it.each(FORMS)('of a %s run is seen while a node of it still runs', async (form) => {
      const goOn = gate();
      const slow = task('slow', async (n: number, ctx) => {
        await ctx.metadata.set('step', 'packing');
        await ctx.metadata.set('done', 0.5);
        await goOn.passed;
        await ctx.metadata.delete('done');
        return [await ctx.metadata.get('step'), (await ctx.metadata.get('done')) ?? 'none', n];
      });
      const step = told.pipe(slow);
      const loom = harness.loom([step]);
      await loom.worker().start();
      const run = await loom.enqueue(step, 1, { form });
      const seen = async () => (await loom.runs.get(run.id))?.metadata;
      await harness.until(async () => (await seen())?.['done'] === 0.5);
      expect(await seen()).toEqual({ last: 1, 'of 1': { n: 1 }, step: 'packing', done: 0.5 });
      goOn.open();
      expect(await run.result()).toEqual(['packing', 'none', 1]);
      expect(await seen()).toEqual({ last: 1, 'of 1': { n: 1 }, step: 'packing' });
    });

    it.each(FORMS)('of a %s run is that of its members and of what handlers run', async (form) => {
      const outer = task('outer', async (all: readonly number[], ctx) => ctx.run(told, all.length));
      const list = task('list', async (n: number) => [n, n + 1]);
      const step = form === 'driven' ? list.pipe(each(told)).pipe(outer) : list.pipe(outer);
      const loom = harness.loom([step, told]);
      await loom.worker().start();
      const run = await loom.enqueue(step, 5, { form });
      await settled(harness, run.result());
      const members = form === 'driven' ? { 'of 5': { n: 5 }, 'of 6': { n: 6 } } : {};
      expect((await loom.runs.get(run.id))?.metadata).toEqual({
        ...members,
        'of 2': { n: 2 },
        last: 2,
      });
    });

    it('of a task that stands alone is its own, and stays when an attempt fails', async () => {
      let calls = 0;
      const flaky = task('flaky', { ...fast, retries: 1 }, async (_: null, ctx) => {
        calls += 1;
        await ctx.metadata.set('call', calls);
        if (calls === 1) throw new Error('once');
        return ctx.metadata.get('call');
      });
      const quiet = task('quiet', async () => 1);
      const loom = harness.loom([flaky, quiet]);
      await loom.worker().start();
      const handle = await loom.enqueue(flaky, null);
      expect(await settled(harness, handle.result())).toBe(2);
      expect((await loom.tasks.get(handle.id))?.metadata).toEqual({ call: 2 });
      const other = await loom.enqueue(quiet);
      await other.result();
      expect(await loom.tasks.get(other.id)).not.toHaveProperty('metadata');
      expect((await loom.tasks.list({ state: 'finished' })).items[0]).not.toHaveProperty(
        'metadata',
      );
    });

    it('is no channel, and is not taken over by a rerun, a fork or an import', async () => {
      const both = task('both', async (n: number, ctx) => {
        await ctx.metadata.set('n', n);
        await ctx.channel(stats).set('count', n);
        return n;
      });
      const still = task('still', async (n: number) => n);
      const step = both.pipe(still);
      const loom = harness.loom([step]);
      await loom.worker().start();
      const run = await loom.enqueue(step, 3, { form: 'driven' });
      await run.result();
      expect(await loom.runs.channels(run.id)).toEqual({ stats: { count: 3 } });
      const others = [
        await loom.runs.rerun(run.id, { from: 'still' }),
        await loom.runs.fork(run.id, { from: 'still' }),
        await loom.runs.import(await loom.runs.export(run.id), { id: 'imported' }),
      ];
      for (const other of others) {
        await settled(harness, other.result());
        expect(await loom.runs.get(other.id)).not.toHaveProperty('metadata');
      }
    });

    it('does not keep a dispatched run from being imported or forked', async () => {
      const step = told.pipe(task('still', async (n: number) => n));
      const loom = harness.loom([step]);
      await loom.worker().start();
      const run = await loom.enqueue(step, 3, { form: 'dispatched' });
      await run.result();
      const imported = await loom.runs.import(await loom.runs.export(run.id), { id: 'imported' });
      expect(await settled(harness, imported.result())).toBe(3);
      const fork = await loom.runs.fork(run.id, { from: 'still' });
      expect(await settled(harness, fork.result())).toBe(3);
    });

    it('is refused where it is no small JSON value, or has no key', async () => {
      const errors: unknown[] = [];
      const bad = task('bad', async (_: null, ctx) => {
        const { metadata } = ctx;
        for (const value of [undefined, 1n, new Date(0), 'x'.repeat(LIMITS.metadataBytes)]) {
          errors.push(await refusal(metadata.set('key', value)));
        }
        for (const key of ['', 'x'.repeat(129), 7 as unknown as string]) {
          errors.push(await refusal(metadata.set(key, 1)), await refusal(metadata.get(key)));
          errors.push(await refusal(metadata.delete(key)));
        }
        await metadata.set('most', 'x'.repeat(LIMITS.metadataBytes - 2));
      });
      const loom = harness.loom([bad]);
      await loom.worker().start();
      const handle = await loom.enqueue(bad, null);
      await handle.result();
      expect(errors.slice(0, 4)).toEqual(Array(4).fill(expect.any(InvalidPayloadError)));
      expect(errors.slice(4)).toEqual(Array(9).fill(expect.any(InvalidOptionError)));
      expect(Object.keys((await loom.tasks.get(handle.id))?.metadata ?? {})).toEqual(['most']);
    });

    it('can be written where nothing is stored', async () => {
      const loom = harness.loom([]);
      const here = task('here', async (n: number, ctx) => {
        await ctx.metadata.set('n', n);
        return ctx.metadata.get('n');
      });
      expect(await loom.run(here, 4)).toBe(4);
      expect(await loom.run(told.pipe(here), 4)).toBe(4);
    });
  });
});
