/** Streams of runs: of nodes in one task, of tasks of their own, of groups, and across the lives of workers. */
import { describe, expect, it } from 'vitest';
import { flakyBackend } from '../../../src/testing/flaky-backend.ts';
import { each, parallel } from '../../../src/workflow/parallel.ts';
import { dynamic, task } from '../../../src/workflow/task-definition.ts';
import { eachBackend, opened } from '../../support/backends.ts';
import { gate } from '../../support/gate.ts';
import { mortal } from '../../support/processes/mortal.ts';
import { stride } from '../../support/rounds.ts';
import { settled } from '../../support/runs.ts';
import { readAll, readNow } from '../../support/streams.ts';

const fast = { backoff: { base: 0 } } as const;

const say = task('say', async (n: number, ctx) => {
  void ctx.stream('tokens').write(n);
  return n + 1;
});

eachBackend((open, backendName) => {
  const harness = opened(open);

  describe('nodes of a driven run', () => {
    it('write to streams of its task, each under its name', async () => {
      const step = say.as('a').pipe(say.as('b'));
      const loom = harness.loom([step]);
      await loom.worker().start();
      const run = await loom.enqueue(step, 1, { form: 'driven' });
      const live = readAll(loom, run.id);
      expect(await run.result()).toBe(3);
      expect(await live).toEqual(['0 1 a', '1 2 b']);
    });

    it('reset only what they have written themselves', async () => {
      const flaky = task('flaky', { retries: 1, ...fast }, async (n: number, ctx) => {
        await ctx.stream('tokens').write(`try ${ctx.attempt}`);
        if (ctx.attempt === 1) throw new Error('again');
        return n;
      });
      const step = say.pipe(flaky).pipe(say.as('end'));
      const loom = harness.loom([step]);
      await loom.worker().start();
      const run = await loom.enqueue(step, 1, { form: 'driven' });
      await settled(harness, run.result());
      expect(await readNow(loom, run.id)).toEqual([
        ...['0 1 say', '1 try 1 flaky', 'reset 2 #2 flaky', '3 try 2 flaky', '4 2 end'],
      ]);
    });

    it('keep what their earlier visits have told', async () => {
      const again = dynamic('again', async (n: number, ctx) => {
        await ctx.stream('tokens').write(n);
        return n < 3 ? ctx.again(n + 1) : n;
      });
      const loom = harness.loom([again]);
      await loom.worker().start();
      const run = await loom.enqueue(again, 1);
      expect(await run.result()).toBe(3);
      expect(await readNow(loom, run.id)).toEqual(['0 1 again', '1 2 again#2', '2 3 again#3']);
    });

    it('that ran before their worker died are not reset', async () => {
      const doomed = gate();
      let calls = 0;
      const hang = task('hang', async (n: number, ctx) => {
        await ctx.stream('tokens').write('hung');
        if (calls++ === 0) {
          doomed.open();
          await new Promise(() => undefined);
        }
        return n;
      });
      const step = say.pipe(hang);
      let isDead = false;
      const backend = flakyBackend(harness.backend, ({ operation }) =>
        isDead && operation !== 'open' ? { holdUntil: new Promise(() => undefined) } : undefined,
      );
      const loom = harness.loom([step]);
      const dead = harness.loom([step], { backend });
      await dead.worker().start();
      const run = await loom.enqueue(step, 1, { form: 'driven' });
      await doomed.passed;
      isDead = true;
      await loom.worker().start();
      await settled(harness, run.result());
      expect(await readNow(loom, run.id)).toEqual([
        ...['0 1 say', '1 hung hang', 'reset 2 #1 hang', '3 hung hang'],
      ]);
    });
  });

  it('nodes of a dispatched run and members of groups have streams of their own tasks', async () => {
    const ids: string[] = [];
    const own = task('own', async (n: number, ctx) => {
      ids.push(ctx.stream('tokens').id);
      await ctx.stream('tokens').write(n);
      return n;
    });
    const step = own.as('a').pipe(parallel(own.as('x'), own.as('y')));
    const loom = harness.loom([step]);
    await loom.worker().start();
    for (const form of ['dispatched', 'driven'] as const) {
      ids.length = 0;
      const run = await loom.enqueue(step, 7, { form });
      await settled(harness, run.result());
      expect(new Set(ids).size).toBe(3);
      const [first, ...members] = ids;
      const node = form === 'driven' ? ' a' : '';
      expect(first === run.id).toBe(form === 'driven');
      expect(await readNow(loom, first ?? '')).toEqual([`0 7${node}`]);
      for (const id of members) expect(await readNow(loom, id)).toEqual(['0 7']);
    }
  });

  describe('a handler that runs a group', () => {
    const group = each(say);
    const outer = task('outer', async (list: readonly number[], ctx) => {
      const tokens = ctx.stream('tokens');
      void tokens.write('before');
      const beside = ctx.run(group, [...list]);
      void tokens.write('beside');
      await beside;
      void tokens.write('after');
      return ctx.run(say, 9);
    });

    it('goes on where it was', async () => {
      const loom = harness.loom([outer, group]);
      await loom.worker().start();
      const handle = await loom.enqueue(outer, [1, 2]);
      const live = readAll(loom, handle.id);
      expect(await settled(harness, handle.result())).toBe(10);
      const whole = ['0 before', '1 beside', '2 after', '3 9 2/say'];
      expect(await live).toEqual(whole);
    });

    it('begins anew elsewhere, and tells what it told before once more', async () => {
      const runUntil = async (lastCall: number): Promise<boolean> => {
        const own = await open();
        const { backend, died } = mortal(own.backend, lastCall);
        const loom = own.loom([outer, group]);
        const handle = await loom.enqueue(outer, [1, 2]);
        const doomed = own.loom([outer, group], { backend }).worker({ concurrency: 2 });
        void doomed.start().catch(() => undefined);
        await own.quiet();
        await loom.worker({ concurrency: 2 }).start();
        const result = await settled(own, handle.result());
        const items = await readNow(loom, handle.id);
        // What was reset is left out: what remains was told once.
        const isReset = (item: string): boolean => /^reset \d+ #\d+$/.test(item);
        const from = items.findLastIndex(isReset) + 1;
        const told = items.slice(from).filter((item) => !/^(reset|\d+ 9)/.test(item));
        const words = told.map((item) => item.replace(/^\d+ /, ''));
        expect([lastCall, result, words]).toEqual([lastCall, 10, ['before', 'beside', 'after']]);
        await own.close();
        return died();
      };
      let lastCall = 1;
      while (await runUntil(lastCall)) lastCall += stride(backendName);
      expect(lastCall).toBeGreaterThan(8);
    });
  });

  describe('a handler that sleeps', () => {
    const sleepy = task('sleepy', async (n: number, ctx) => {
      const tokens = ctx.stream('tokens');
      void tokens.write('before');
      await ctx.sleep('1h');
      await tokens.write('after');
      return n;
    });

    it.each(['alone', 'driven'] as const)('goes on where it was (%s)', async (form) => {
      const step = say.pipe(sleepy);
      const loom = harness.loom([step]);
      await loom.worker().start();
      const handle =
        form === 'alone' ? await loom.enqueue(sleepy, 1) : await loom.enqueue(step, 1, { form });
      const live = readAll(loom, handle.id);
      await settled<unknown>(harness, handle.result());
      const whole = ['0 before', '1 after'];
      const ofRun = ['0 1 say', '1 before sleepy', '2 after sleepy'];
      expect(await live).toEqual(form === 'alone' ? whole : ofRun);
    });
  });

  it('an export has no streams, and a rerun begins with none', async () => {
    const step = say.as('a').pipe(say.as('b'));
    const loom = harness.loom([step]);
    await loom.worker().start();
    const run = await loom.enqueue(step, 1, { form: 'driven' });
    await run.result();
    expect(JSON.stringify(await loom.runs.export(run.id))).not.toContain('tokens');
    const again = await loom.runs.rerun(run.id, { from: 'b' });
    await again.result();
    expect(await readNow(loom, again.id)).toEqual(['0 2 b']);
  });
});
