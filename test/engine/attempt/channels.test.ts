/** Channels: what the nodes of one run share, written once also when a worker dies. */
import { describe, expect, it } from 'vitest';
import { ClosedError, LeaseLostError } from '../../../src/domain/errors/errors.ts';
import { flakyBackend } from '../../../src/testing/flaky-backend.ts';
import { channel } from '../../../src/workflow/channel.ts';
import { each, parallel } from '../../../src/workflow/parallel.ts';
import { dynamic, task } from '../../../src/workflow/task-definition.ts';
import { retryAfter } from '../../../src/workflow/tasks/retry-after.ts';
import { eachBackend, opened } from '../../support/backends.ts';
import { gate } from '../../support/gate.ts';
import { mortal } from '../../support/processes/mortal.ts';
import { stride } from '../../support/rounds.ts';
import { refusal, settled } from '../../support/runs.ts';

interface Stats {
  count: number;
  seen: string[];
  note: string | null;
  other?: { deep: unknown };
}

const stats = channel<Stats>('stats');
const fast = { backoff: { base: 0 } } as const;
const FORMS = ['dispatched', 'driven'] as const;

const count = task('count', fast, async (n: number, ctx) => {
  await ctx.channel(stats).add('count', 1);
  await ctx.channel(stats).append('seen', ctx.taskId);
  return n;
});
const read = task('read', async (_input: unknown, ctx) => ctx.channel(stats).get('count'));

eachBackend((open, name) => {
  const harness = opened(open);

  describe('channels of a run', () => {
    it.each(FORMS)(
      // B-W7
      'a later node of a %s run reads what an earlier one wrote',
      async (form) => {
        const write = task('write', async (input: { note: string }, ctx) => {
          const own = ctx.channel(stats);
          await own.set('note', null);
          await own.set('other', { deep: ['1', 1, true, null] });
          await own.add('count', 1.5);
          await own.set('seen', ['x']);
          await own.delete('seen');
          return input;
        });
        const look = task('look', async (input: { note: string }, ctx) => {
          const own = ctx.channel(stats);
          const values = { note: await own.get('note'), other: await own.get('other') };
          return [input, values, await own.get('count'), (await own.get('seen')) ?? 'none'];
        });
        const step = write.pipe(look);
        const loom = harness.loom([step]);
        await loom.worker().start();
        const run = await loom.enqueue(step, { note: 'mine' }, { form });
        // B-W32: a key that is called like a part of an input is not that part.
        expect(await run.result()).toEqual([
          { note: 'mine' },
          { note: null, other: { deep: ['1', 1, true, null] } },
          1.5,
          'none',
        ]);
        expect(await loom.runs.channels(run.id)).toEqual({
          stats: { note: null, other: { deep: ['1', 1, true, null] }, count: 1.5 },
        });
      },
    );

    // B-W8 B-W16
    it.each(FORMS)('members of a %s run lose no update of each other', async (form) => {
      const members = Object.fromEntries(
        ['a', 'b', 'c', 'd', 'e'].map((key) => [key, count.as(key)]),
      );
      const first = task('first', async (n: number, ctx) => {
        await ctx.channel(stats).set('note', 'old');
        return n;
      });
      const changes = task('changes', async (n: number, ctx) => {
        await ctx.channel(stats).set('note', 'NEW');
        return n;
      });
      const step = first.pipe(parallel({ ...members, changes })).pipe(read);
      const loom = harness.loom([step]);
      await loom.worker().start();
      const run = await loom.enqueue(step, 1, { form });
      expect(await run.result()).toBe(5);
      const stored = (await loom.runs.channels(run.id))['stats'];
      expect(stored).toMatchObject({ count: 5, note: 'NEW' });
      expect(new Set(stored?.['seen'] as string[]).size).toBe(5);
    });

    it('reach into groups of groups, dynamic nodes and steps that handlers run', async () => {
      const outer = task('outer', async (n: number, ctx) => {
        await ctx.run(count, n);
        return ctx.run(parallel({ x: count.as('x'), y: count.as('y') }), n);
      });
      const again = dynamic('again', async (n: number, ctx) => {
        await ctx.channel(stats).add('count', 1);
        return ctx.cycle < 2 ? ctx.again(n) : n;
      });
      const step = each(
        parallel({ deep: each(count.as('z')), outer: task('one', () => 1).pipe(outer) }),
      )
        .pipe(task('n', () => 1))
        .pipe(again)
        .pipe(read);
      const loom = harness.loom([step]);
      await loom.worker().start();
      const run = await loom.enqueue(step as never, [[1, 2], [3]] as never);
      // 3 of deep, 3 in each of two handlers, 3 rounds.
      expect(await settled(harness, run.result())).toBe(12);
    });

    it('two runs never meet, and a rerun begins with nothing', async () => {
      const step = count.pipe(read);
      const loom = harness.loom([step]);
      await loom.worker().start();
      const runs = await Promise.all([loom.enqueue(step, 1), loom.enqueue(step, 2)]);
      expect(await Promise.all(runs.map((run) => run.result()))).toEqual([1, 1]);
      const again = await loom.runs.rerun(runs[0].id, { from: 'read' });
      expect(await again.result()).toBeUndefined();
      expect(await loom.runs.channels(again.id)).toEqual({});
    });

    it('a task that stands alone has its own', async () => {
      const loom = harness.loom([count]);
      await loom.worker().start();
      const [one, two] = [await loom.enqueue(count, 1), await loom.enqueue(count, 1)];
      await Promise.all([one.result(), two.result()]);
      expect(await loom.runs.channels(one.id)).toEqual({ stats: { count: 1, seen: [one.id] } });
    });

    // B-W31
    it('values have no time of their own, and go with the record of the run', async () => {
      const late = read.as('late');
      const step = count
        .pipe(
          task('wait', { retries: 1 }, (_n, ctx) => {
            if (ctx.attempt === 1) throw retryAfter('5d');
          }),
        )
        .pipe(late);
      const loom = harness.loom([step]);
      await loom.worker().start();
      const run = await loom.enqueue(step, 1);
      await harness.until(async () => (await loom.runs.channels(run.id))['stats'] !== undefined);
      await harness.quiet();
      await harness.jump(5 * 86_400_000 + 10_000);
      expect(await settled(harness, run.result())).toBe(1);
      await harness.jump(2 * 86_400_000);
      for (let ticks = 0; (await harness.backend.tasks.tick()).more && ticks < 100; ticks++);
      expect(await loom.runs.get(run.id)).toBeUndefined();
      expect(await loom.runs.channels(run.id)).toEqual({});
    });
  });

  describe('what an attempt writes', () => {
    it('is seen by itself at once, and by others when it has succeeded', async () => {
      const [wrote, goOn] = [gate(), gate()];
      const own: unknown[] = [];
      const writer = task('writer', async (_n: number, ctx) => {
        const mine = ctx.channel(stats);
        await mine.append('seen', 'a');
        await mine.append('seen', 'b');
        await mine.add('count', 2);
        await ctx.channel(stats).add('count', 1);
        own.push(await mine.get('seen'), await mine.get('count'), await mine.live.get('count'));
        wrote.open();
        await goOn.passed;
        return 0;
      });
      const loom = harness.loom([writer]);
      await loom.worker().start();
      const handle = await loom.enqueue(writer, 1);
      await wrote.passed;
      expect(own).toEqual([['a', 'b'], 3, undefined]);
      expect(await loom.runs.channels(handle.id)).toEqual({});
      goOn.open();
      await handle.result();
      expect(await loom.runs.channels(handle.id)).toEqual({
        stats: { seen: ['a', 'b'], count: 3 },
      });
    });

    it.each(FORMS)(
      'is dropped when it fails: only the attempt that succeeds counts (%s)',
      async (form) => {
        const flaky = task('flaky', { retries: 2, ...fast }, async (n: number, ctx) => {
          await ctx.channel(stats).add('count', 1);
          if (ctx.attempt < 3) throw new Error('not yet');
          return n;
        });
        const step = flaky.pipe(read);
        const loom = harness.loom([step]);
        await loom.worker().start();
        const run = await loom.enqueue(step, 1, { form });
        expect(await settled(harness, run.result())).toBe(1);
      },
    );

    it('is dropped when its lease is lost', async () => {
      const goOn = gate();
      const live: unknown[] = [];
      let calls = 0;
      const writer = task('writer', async (_n: number, ctx) => {
        await ctx.channel(stats).append('seen', String(ctx.fencingToken));
        if (calls++ > 0) return 0;
        await goOn.passed;
        live.push(await refusal(ctx.channel(stats).live.add('count', 1)));
        return 0;
      });
      let isDeaf = false;
      const backend = flakyBackend(harness.backend, ({ operation }) =>
        isDeaf && operation === 'tasks.extend' ? 'lose-request' : undefined,
      );
      const loom = harness.loom([writer], { backend });
      const other = harness.loom([writer]);
      await loom.worker().start();
      const handle = await loom.enqueue(writer, 1);
      await harness.until(() => calls === 1);
      isDeaf = true;
      await other.worker().start();
      await settled(harness, handle.result());
      goOn.open();
      await harness.until(() => live.length > 0);
      expect(live).toEqual([expect.any(LeaseLostError)]);
      const stored = (await other.runs.channels(handle.id))['stats'];
      expect(stored).toEqual({ seen: [expect.any(String)] });
    });

    it.each([
      ['tasks.settle', 'dispatched'],
      ['runs.checkpoint', 'driven'],
    ] as const)('counts once when the answer to %s is lost (%s)', async (operation, form) => {
      const lost = new Map<string, number>();
      const backend = flakyBackend(harness.backend, (call) => {
        const isLost = call.operation === operation && JSON.stringify(call.args).includes('stats:');
        if (!isLost) return undefined;
        const times = (lost.get(operation) ?? 0) + 1;
        lost.set(operation, times);
        return times <= 2 ? 'lose-reply' : undefined;
      });
      const step = count.pipe(read);
      const loom = harness.loom([step], { backend });
      await loom.worker().start();
      const run = await loom.enqueue(step, 1, { form });
      expect(await settled(harness, run.result())).toBe(1);
      expect(lost.get(operation)).toBeGreaterThan(2);
    });

    it.each([
      ['dispatched', 'before'],
      ['dispatched', 'after'],
      ['driven', 'before'],
      ['driven', 'after'],
    ] as const)('counts once whenever its worker dies (%s, %s the call)', async (form, moment) => {
      const step = count
        .pipe(parallel(count.as('x'), count.as('y')))
        .pipe(task('one', () => 1))
        .pipe(count.as('z'))
        .pipe(read);
      const runUntil = async (lastCall: number): Promise<boolean> => {
        const own = await open();
        const { backend, died } = mortal(own.backend, lastCall, moment);
        const loom = own.loom([step]);
        const handle = await loom.enqueue(step as never, 1 as never, { form });
        const doomed = own.loom([step], { backend }).worker({ concurrency: 2 });
        void doomed.start().catch(() => undefined);
        await own.quiet();
        await loom.worker({ concurrency: 2 }).start();
        const result = await settled(own, handle.result());
        const stored = (await loom.runs.channels(handle.id))['stats'];
        expect([lastCall, result, stored?.['count']]).toEqual([lastCall, 4, 4]);
        expect(stored?.['seen']).toHaveLength(4);
        await own.close();
        return died();
      };
      let lastCall = 1;
      while (await runUntil(lastCall)) lastCall += stride(name);
      expect(lastCall).toBeGreaterThan(6);
    });

    it('fails the task when it cannot be stored, without a retry, and nothing of it is', async () => {
      const wrong = task('wrong', { retries: 3, ...fast }, async (n: number, ctx) => {
        await ctx.channel(stats).set('note', 'kept?');
        await ctx
          .channel(stats)
          .append('note' as never, 'x' as never)
          .catch(() => undefined);
        await ctx.channel(stats).add('other' as never, 1);
        return n;
      });
      const first = task('first', async (n: number, ctx) => {
        await ctx.channel(stats).set('other', { deep: 1 });
        return n;
      });
      for (const form of FORMS) {
        const step = first.pipe(wrong);
        const loom = harness.loom([step]);
        const worker = loom.worker();
        await worker.start();
        const run = await loom.enqueue(step, 1, { form });
        const error = await refusal(settled(harness, run.result()));
        expect(error).toMatchObject({
          code: 'RUN_FAILED',
          errorName: 'ChannelTypeError',
        });
        expect(await loom.runs.channels(run.id)).toEqual({ stats: { other: { deep: 1 } } });
        await worker.stop();
      }
    });

    it('cannot be written when the handler has ended', async () => {
      let late: (() => Promise<void>) | undefined;
      const writer = task('writer', async (_n: number, ctx) => {
        const mine = ctx.channel(stats);
        late = () => mine.add('count', 1);
        return 0;
      });
      const loom = harness.loom([writer]);
      await loom.worker().start();
      await (await loom.enqueue(writer, 1)).result();
      expect(await refusal(late?.() ?? Promise.resolve())).toBeInstanceOf(ClosedError);
    });
  });

  describe('live writes', () => {
    it('are there at once, and stay when the attempt fails', async () => {
      const [wrote, goOn] = [gate(), gate()];
      const writer = task('writer', { retries: 1, ...fast }, async (_n: number, ctx) => {
        const { live } = ctx.channel(stats);
        await live.add('count', 1);
        await live.append('seen', 'step 1', { once: 'step 1' });
        await live.set('note', `attempt ${ctx.attempt}`);
        if (ctx.attempt === 2) return ctx.channel(stats).get('count');
        wrote.open();
        await goOn.passed;
        throw new Error('no');
      });
      const loom = harness.loom([writer]);
      await loom.worker().start();
      const handle = await loom.enqueue(writer, 1);
      await wrote.passed;
      const first = { count: 1, seen: ['step 1'], note: 'attempt 1' };
      expect(await loom.runs.channels(handle.id)).toEqual({ stats: first });
      goOn.open();
      expect(await settled(harness, handle.result())).toBe(2);
      const both = { count: 2, seen: ['step 1'], note: 'attempt 2' };
      expect(await loom.runs.channels(handle.id)).toEqual({ stats: both });
    });

    it('say why they are refused', async () => {
      const writer = task('writer', async (_n: number, ctx) => {
        const { live } = ctx.channel(stats);
        await live.set('note', 'text');
        throw await refusal(live.add('note' as never, 1));
      });
      const loom = harness.loom([writer]);
      await loom.worker().start();
      const handle = await loom.enqueue(writer, 1);
      expect(await refusal(settled(harness, handle.result()))).toMatchObject({
        errorName: 'ChannelTypeError',
      });
      expect(await loom.tasks.attempts(handle.id)).toHaveLength(1);
    });
  });

  if (name === 'memory') return;
  it('two prefixes never meet', async () => {
    const other = await open();
    try {
      const step = count.pipe(read);
      const looms = [harness.loom([step]), other.loom([step])];
      for (const loom of looms) {
        await loom.worker().start();
        const run = await loom.enqueue(step, 1, { id: 'same' });
        expect(await run.result()).toBe(1);
      }
    } finally {
      await other.close();
    }
  });
});
