/** XCom: values that the tasks of one user hand on, written once also when a worker dies. */
import { describe, expect, it } from 'vitest';
import { ClosedError } from '../../../src/domain/errors/errors.ts';
import type { Decision } from '../../../src/domain/port/backend.ts';
import { parallel } from '../../../src/workflow/parallel.ts';
import { dynamic, ref, task } from '../../../src/workflow/task-definition.ts';
import type { XCom } from '../../../src/workflow/xcom.ts';
import { xcomKey } from '../../../src/workflow/xcom-key.ts';
import { eachBackend, opened } from '../../support/backends.ts';
import { mortal } from '../../support/processes/mortal.ts';
import { refusal, settled } from '../../support/runs.ts';

const rows = xcomKey<number[]>('rows');
const note = xcomKey<{ text: string }>('note');
const FORMS = ['dispatched', 'driven'] as const;
const HOUR_MS = 3_600_000;

const write = task('write', { retries: 0 }, async (input: number[], ctx) => {
  await ctx.xcom.push(rows, input);
  return input.length;
});
const read = task('read', async (_input: unknown, ctx) => (await ctx.xcom.pull(rows)) ?? null);

eachBackend((open) => {
  const harness = opened(open);

  describe('xcom of a task', () => {
    // A-W7
    it('a value that one task pushes is pulled by another, of the same user alone', async () => {
      const loom = harness.loom([write, read]);
      await loom.worker().start();
      await (await loom.enqueue(write, [1, 2], { user: 'ann' })).result();
      expect(await (await loom.enqueue(read, 0, { user: 'ann' })).result()).toEqual([1, 2]);
      expect(await (await loom.enqueue(read, 0, { user: 'bob' })).result()).toBe(null);
      expect(await loom.xcom.pull(rows, { user: 'ann' })).toEqual([1, 2]);
    });

    it('is not seen before the task has finished, nor if it fails', async () => {
      const seen: unknown[] = [];
      const fail = task('fail', { retries: 1, backoff: { base: 0 } }, async (_n: number, ctx) => {
        seen.push(await ctx.xcom.pull(rows));
        await ctx.xcom.push(rows, [ctx.attempt]);
        seen.push(await ctx.xcom.pull(rows), await loom.xcom.pull(rows));
        throw new Error('no');
      });
      const loom = harness.loom([fail]);
      await loom.worker().start();
      const handle = await loom.enqueue(fail, 1);
      await settled(harness, refusal(handle.result()));
      expect(seen).toEqual([undefined, [1], undefined, undefined, [2], undefined]);
      expect(await loom.xcom.pull(rows)).toBe(undefined);
    });

    it('a handler that failed writes nothing, though its decider lets that pass', async () => {
      const finish = (): Decision => ({ type: 'finish', result: '"fine"' });
      const fail = task('fail', { decider: finish }, async (_n: number, ctx) => {
        await ctx.xcom.push('k', 1);
        throw new Error('no');
      });
      const loom = harness.loom([fail]);
      await loom.worker().start();
      const handle = await loom.enqueue(fail, 1);
      expect(await settled(harness, handle.result())).toBe('fine');
      expect(await loom.xcom.pull('k')).toBe(undefined);
    });

    it('a result that a decider gave is handed on, stored or run here', async () => {
      const finish = (): Decision => ({ type: 'finish', result: '"fine"' });
      const fail = task('fail', { decider: finish, xcom: true }, async (_n: number) => {
        throw new Error('no');
      });
      const loom = harness.loom([fail]);
      await loom.worker().start();
      await settled(harness, (await loom.enqueue(fail, 1, { user: 'ann' })).result());
      await loom.run(fail, 1, { user: 'bob' });
      expect(await loom.xcom.pull(fail, { user: 'ann' })).toBe('fine');
      expect(await loom.xcom.pull(fail, { user: 'bob' })).toBe('fine');
    });

    it('deletes, and works in other namespaces', async () => {
      const work = task('work', async (_n: number, ctx) => {
        const other = ctx.xcom.in('a:b');
        await other.push('k', 'there');
        await ctx.xcom.push('k', 'here');
        await ctx.xcom.delete(note);
        await other.push('gone', 1);
        await other.delete('gone');
        return [
          await other.pull('k'),
          (await other.pull('gone')) ?? 'gone',
          (await ctx.xcom.pull(note)) ?? 'gone',
        ];
      });
      const loom = harness.loom([work]);
      await loom.xcom.push(note, { text: 'x' });
      await loom.worker().start();
      const handle = await loom.enqueue(work, 1);
      expect(await handle.result()).toEqual(['there', 'gone', 'gone']);
      expect((await loom.xcom.list()).items.map(({ key }) => key)).toEqual(['k']);
      expect((await loom.xcom.list({ namespace: 'a:b' })).items).toEqual([
        {
          ...{ user: 'default', namespace: 'a:b', key: 'k', writer: handle.id },
          pushedAt: harness.clock.now(),
          expiresAt: harness.clock.now() + HOUR_MS,
        },
      ]);
      expect((await loom.xcom.namespaces()).items).toEqual(['a:b', 'default']);
    });

    it('a result is handed on by a definition that says so', async () => {
      const extract = task('extract', { xcom: true }, async (n: number) => ({ n }));
      const other = task('other', async (n: number) => n);
      const load = task('load', async (_n: unknown, ctx) => [
        await ctx.xcom.pull(extract),
        await ctx.xcom.pull(ref<typeof extract>('extract')),
        (await ctx.xcom.pull(other)) ?? 'none',
      ]);
      const loom = harness.loom([extract, other, load]);
      await loom.worker().start();
      await (await loom.enqueue(extract, 7)).result();
      await (await loom.enqueue(other, 7)).result();
      const handle = await loom.enqueue(load, 0);
      expect(await handle.result()).toEqual([{ n: 7 }, { n: 7 }, 'none']);
      expect(await loom.xcom.pull(extract)).toEqual({ n: 7 });
    });

    it('a result that is too large for a value fails the task', async () => {
      const large = task('large', { xcom: true }, async (n: number) => 'x'.repeat(n));
      const loom = harness.loom([large]);
      await loom.worker().start();
      const fits = await loom.enqueue(large, 262_142);
      expect(await fits.result()).toHaveLength(262_142);
      const over = await loom.enqueue(large, 262_143);
      expect(await settled(harness, refusal(over.result()))).toMatchObject({
        code: 'TASK_FAILED',
        failureType: 'invalid-result',
      });
      expect(await loom.xcom.pull(large)).toHaveLength(262_142);
    });

    it('lives for its time after the end of its writer, the default one or its own', async () => {
      const work = task('work', async (_n: number, ctx) => {
        await ctx.xcom.push('short', 1, { ttl: '1s' });
        await ctx.xcom.push('long', 1, { ttl: '1m' });
        await ctx.xcom.push('usual', 1);
      });
      const loom = harness.loom([work], { xcom: { ttl: '5s' } });
      const worker = loom.worker();
      await worker.start();
      await (await loom.enqueue(work, 1)).result();
      const keys = async (): Promise<readonly string[]> =>
        (await loom.xcom.list()).items.map(({ key }) => key);
      expect(await keys()).toEqual(['long', 'short', 'usual']);
      await harness.clock.advance(1_000);
      expect(await keys()).toEqual(['long', 'usual']);
      await harness.clock.advance(4_000);
      expect(await keys()).toEqual(['long']);
      await harness.clock.advance(55_000);
      expect(await keys()).toEqual([]);
      // A worker looks after its store at least once in this time.
      await harness.clock.advance(7_000);
      expect((await loom.xcom.namespaces()).items).toEqual([]);
    });

    it('is refused once the handler has ended', async () => {
      let kept: XCom | undefined;
      const work = task('work', async (_n: number, ctx) => {
        kept = ctx.xcom;
        await kept.push('k', 1);
      });
      const loom = harness.loom([work]);
      await loom.worker().start();
      await (await loom.enqueue(work, 1)).result();
      expect(await refusal(kept?.push('k', 2) ?? Promise.resolve())).toBeInstanceOf(ClosedError);
      expect(await loom.xcom.pull('k')).toBe(1);
    });

    it('is written once, whichever call the worker dies at', async () => {
      const add = task('add', { retries: 0 }, async (_n: number, ctx) => {
        const before = (await ctx.xcom.pull('n')) as number | undefined;
        await ctx.xcom.push('n', (before ?? 0) + 1);
      });
      for (let call = 1, died = true; died; call++) {
        const key = `u${call}`;
        const { backend, died: isDead } = mortal(harness.backend, call);
        const first = harness.loom([add], { backend });
        const handle = await harness.loom([add]).enqueue(add, 1, { user: key });
        void first
          .worker()
          .start()
          .catch(() => undefined);
        await harness.quiet();
        died = isDead();
        const second = harness.loom([add]);
        const worker = second.worker();
        await worker.start();
        await settled(harness, handle.result());
        expect(await second.xcom.pull('n', { user: key })).toBe(1);
        const stopped = worker.stop();
        await harness.clock.advance(0);
        await stopped;
      }
    });
  });

  describe('xcom of a run', () => {
    it.each(FORMS)('a later node of a %s run pulls what an earlier one pushed', async (form) => {
      const step = write.pipe(read).as('etl');
      const loom = harness.loom([step]);
      await loom.worker().start();
      const run = await loom.enqueue(step, [1], { form, user: 'ann' });
      expect(await settled(harness, run.result())).toEqual([1]);
      const [fact] = (await loom.xcom.list({ user: 'ann' })).items;
      expect(fact?.key).toBe('rows');
    });

    it.each(FORMS)('members of a %s group push, and results are handed on', async (form) => {
      const member = task('member', { xcom: true }, async (n: number, ctx) => {
        await ctx.xcom.push(ctx.taskId, n);
        return n;
      });
      const step = parallel({ a: member.as('a'), b: member.as('b') }).as('both');
      const loom = harness.loom([step]);
      await loom.worker().start();
      const run = await loom.enqueue(step, 7, { form });
      expect(await settled(harness, run.result())).toEqual({ a: 7, b: 7 });
      expect((await loom.xcom.list()).items).toHaveLength(3);
      expect(await loom.xcom.pull(member)).toBe(7);
    });

    it('a dynamic node of a driven run hands its result on', async () => {
      const loop = dynamic('loop', { xcom: true }, async (n: number, ctx) => {
        await ctx.xcom.push('rounds', n);
        return n < 3 ? ctx.again(n + 1) : `done ${n}`;
      });
      const loom = harness.loom([loop]);
      await loom.worker().start();
      const run = await loom.enqueue(loop, 1);
      expect(await settled(harness, run.result())).toBe('done 3');
      expect(await loom.xcom.pull(loop)).toBe('done 3');
      expect(await loom.xcom.pull('rounds')).toBe(3);
    });

    it('what runs here and now writes to the same values', async () => {
      const handing = task('handing', { xcom: true }, async (n: number) => n);
      const pull = task('pull', async (_n: number, ctx) => ctx.xcom.pull(handing));
      const step = write.pipe(handing).pipe(pull).as('here');
      const loom = harness.loom([handing, step]);
      expect(await loom.run(step, [1], { user: 'ann' })).toBe(1);
      expect(await loom.run(handing, 3, { user: 'ann' })).toBe(3);
      expect(await loom.xcom.pull(handing, { user: 'ann' })).toBe(3);
      expect(await loom.xcom.pull(rows, { user: 'ann' })).toEqual([1]);
      const fail = task('fail', { retries: 0 }, async (_n: number, ctx) => {
        await ctx.xcom.push(rows, []);
        throw new Error('no');
      });
      await refusal(loom.run(fail, 1, { user: 'ann' }));
      expect(await loom.xcom.pull(rows, { user: 'ann' })).toEqual([1]);
    });
  });
});
