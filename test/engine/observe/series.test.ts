/** What clients and workers count by minute and hour, when they send it, and what is shown of it. */
import { describe, expect, it } from 'vitest';
import type { SeriesReport, SeriesSums } from '../../../src/client/facades/series-report.ts';
import { LIMITS } from '../../../src/domain/limits.ts';
import { flakyBackend } from '../../../src/testing/flaky-backend.ts';
import { task } from '../../../src/workflow/task-definition.ts';
import { eachBackend, everyBackend, type Harness, opened } from '../../support/backends.ts';

const quick = task('quick', async () => 'done');
const fails = task('fails', { retries: 0 }, async () => {
  throw new Error('no');
});
const again = task('again', { retries: 1, backoff: { base: '1m', jitter: 'none' } }, async () => {
  throw new Error('not yet');
});

const FLUSH = LIMITS.seriesFlushMs;

function sums(report: SeriesReport): Readonly<Record<string, number>> {
  const found: Record<string, number> = {};
  for (const point of report.points) {
    for (const what of ['enqueued', 'started', 'finished', 'failed', 'canceled'] as const) {
      if (point[what] > 0) found[what] = (found[what] ?? 0) + point[what];
    }
    for (const what of ['retried', 'lost'] as const) {
      if (point[what] > 0) found[what] = (found[what] ?? 0) + point[what];
    }
  }
  return found;
}

eachBackend((open) => {
  const harness = opened(open);

  /** Calls of `series.add`. */
  function counted(): { readonly backend: Harness['backend']; readonly calls: () => number } {
    let calls = 0;
    const backend = flakyBackend(harness.backend, ({ operation, count }) => {
      if (operation === 'series.add') calls = count;
      return undefined;
    });
    return { backend, calls: () => calls };
  }

  describe('counts', () => {
    it('what was stored, started and ended, by minute, queue and user', async () => {
      const loom = harness.loom([quick, fails, again]);
      await loom.enqueueMany(quick, Array(3).fill(undefined), { user: 'ann' });
      await loom.enqueue(fails, undefined, { user: 'bob' });
      await loom.enqueue(again, undefined, { user: 'bob' });
      await loom.enqueue(quick, undefined, { user: 'ann', queue: 'other' });
      const { id } = await loom.enqueue(quick, undefined, { user: 'ann', delay: '1d' });
      await loom.tasks.cancel(id);
      await loom.worker({ concurrency: 5 }).start();
      await harness.clock.advance(FLUSH);
      const report = await loom.series.read({ step: 'minute' });
      expect(sums(report)).toEqual({
        enqueued: 7,
        started: 5,
        finished: 3,
        failed: 1,
        retried: 1,
        canceled: 1,
      });
      expect(report.points).toHaveLength(LIMITS.seriesMinutesShown);
      expect(report.to - report.from).toBe(3_600_000);
      const whole = (user: string): SeriesSums | undefined =>
        report.users?.find((one) => one.user === user && one.queue === 'default');
      expect(whole('ann')).toMatchObject({ enqueued: 4, started: 3, finished: 3 });
      expect(whole('bob')).toMatchObject({ enqueued: 2, started: 2, failed: 1, retried: 1 });
      expect(report.others).toBeUndefined();
      const ann = await loom.series.read({ step: 'hour', user: 'ann' });
      expect(sums(ann)).toEqual({ enqueued: 5, started: 3, finished: 3 });
      expect(ann.users).toBeUndefined();
      const other = await loom.series.read({ step: 'minute', queue: 'other' });
      expect(sums(other)).toEqual({ enqueued: 1 });
    });

    it('how long tasks waited and ran, of those that waited for no other', async () => {
      const slow = task('slow', () => {
        return new Promise((resolve) => {
          harness.clock.setTimer(20_000, () => resolve(1));
        });
      });
      const loom = harness.loom([quick, slow]);
      const first = await loom.enqueue(slow);
      await loom.enqueue(quick, undefined, { dependsOn: [first.id] });
      await harness.clock.advance(1_000);
      await loom.worker().start();
      await harness.clock.advance(20_000 + FLUSH);
      const { points } = await loom.series.read({ step: 'hour' });
      const { wait, run } = points.at(-1) ?? {};
      expect([wait?.count, run?.count]).toEqual([1, 2]);
      expect(Math.abs((wait?.p50 ?? 0) - 1_000)).toBeLessThan(91);
      expect(Math.abs((run?.p99 ?? 0) - 20_000)).toBeLessThan(1_820);
    });

    it('what members of a run came to', async () => {
      const line = quick.pipe(task('after', async () => 'two')).as('line');
      const loom = harness.loom([quick, line]);
      await loom.worker({ concurrency: 3 }).start();
      const run = await loom.enqueue(line, undefined, { user: 'ann' });
      await harness.until(async () => (await loom.runs.get(run.id))?.state === 'finished');
      await harness.clock.advance(FLUSH);
      const { totals } = await loom.stats();
      const { enqueued, finished } = sums(await loom.series.read({ step: 'minute' }));
      expect([enqueued, finished]).toEqual([totals.enqueued, totals.finished]);
    });

    it('of two workers together', async () => {
      const one = harness.loom([quick]);
      const other = harness.loom([quick]);
      await one.enqueueMany(quick, Array(10).fill(undefined), { user: 'ann' });
      await one.worker({ concurrency: 1 }).start();
      await other.worker({ concurrency: 1 }).start();
      await harness.clock.advance(3 * FLUSH);
      const report = await one.series.read({ step: 'minute' });
      expect(sums(report)).toEqual({ enqueued: 10, started: 10, finished: 10 });
      expect(report.users).toMatchObject([{ user: 'ann', enqueued: 10, finished: 10 }]);
    });
  });

  describe('sends', () => {
    it('a while after the first that it has counted, and nothing while nothing happens', async () => {
      const { backend, calls } = counted();
      const loom = harness.loom([quick], { backend });
      await loom.worker().start();
      await harness.clock.advance(10 * FLUSH);
      expect(calls()).toBe(0);
      await loom.enqueue(quick);
      await harness.clock.advance(FLUSH - 1);
      expect(calls()).toBe(0);
      await harness.clock.advance(1);
      expect(calls()).toBe(1);
      await harness.clock.advance(10 * FLUSH);
      await loom.close();
      expect(calls()).toBe(1);
    });

    it('what is left when it closes, if it works or has sent before', async () => {
      const { backend, calls } = counted();
      const short = harness.loom([quick], { backend });
      await short.enqueue(quick);
      await short.close({ timeout: 0 }).catch(() => undefined);
      expect(calls()).toBe(0);
    });

    it('what is left when it closes, if it works', async () => {
      const { backend, calls } = counted();
      const loom = harness.loom([quick], { backend });
      await loom.enqueue(quick);
      await loom.worker().start();
      await harness.until(async () => (await loom.stats()).totals.finished === 1);
      const look = harness.loom([]);
      const before = await look.series.read({ step: 'hour' });
      expect([calls(), sums(before)]).toEqual([0, {}]);
      await loom.close();
      expect(calls()).toBe(1);
    });

    it('nothing with series: false', async () => {
      const { backend, calls } = counted();
      const loom = harness.loom([quick], { backend, series: false });
      await loom.enqueue(quick);
      await loom.worker().start();
      await harness.clock.advance(10 * FLUSH);
      expect(calls()).toBe(0);
      expect(sums(await loom.series.read({ step: 'minute' }))).toEqual({});
    });

    it('what it could not send is said once, and lost; the queue has it all the same', async () => {
      const said: unknown[] = [];
      const line = (_: string, fields?: object): void =>
        void said.push(Reflect.get(fields ?? {}, 'event'));
      const log = { debug: line, info: line, warn: line, error: line };
      let isBroken = true;
      const backend = flakyBackend(harness.backend, ({ operation }) =>
        operation === 'series.add' && isBroken ? 'lose-request' : undefined,
      );
      const loom = harness.loom([quick], { backend, log });
      await loom.worker().start();
      for (let round = 0; round < 3; round++) {
        await loom.enqueue(quick);
        await harness.clock.advance(FLUSH);
      }
      expect(said.filter((event) => event === 'series.not-kept')).toHaveLength(1);
      isBroken = false;
      await loom.enqueue(quick);
      await harness.clock.advance(FLUSH);
      const report = await loom.series.read({ step: 'minute' });
      expect(sums(report)).toEqual({ enqueued: 4, finished: 4, started: 1 });
    });
  });

  describe('reads', () => {
    it.each([
      [{}, 'step'],
      [{ step: 'day' }, 'step'],
      [{ step: 'hour', from: 'yesterday' }, 'from'],
      [{ step: 'hour', from: 5, to: 5 }, 'to'],
      [{ step: 'hour', queue: 'no queue' }, 'queue'],
      [{ step: 'hour', user: '' }, 'user'],
      [{ step: 'hour', users: ['ann'] }, 'users'],
    ])('refuses %o', async (options, option) => {
      const loom = harness.loom([]);
      await expect(loom.series.read(options as never)).rejects.toMatchObject({
        code: 'INVALID_OPTION',
        option,
      });
    });

    it('a point for each step, also for those of which nothing is kept', async () => {
      const loom = harness.loom([quick]);
      const now = harness.clock.now();
      await loom.worker().start();
      await loom.enqueue(quick);
      await harness.clock.advance('2m');
      await loom.enqueue(quick);
      await harness.clock.advance(FLUSH);
      const report = await loom.series.read({
        step: 'minute',
        from: new Date(now),
        to: now + 240_000,
      });
      expect(report.points.map(({ finished }) => finished)).toEqual([1, 0, 1]);
      expect([report.from, report.to]).toEqual([now, now + 180_000]);
      const future = await loom.series.read({ step: 'hour', from: now + 86_400_000 });
      expect(future.points).toEqual([]);
    });
  });
});

everyBackend((open) => {
  const harness = opened(open);

  // F99
  it('counts from the first row on what no process has told and no task is left of', async () => {
    const retention = { canceled: 0 };
    const silent = harness.loom([quick], { retention, series: false });
    const loom = harness.loom([quick], { retention });
    const cancelMany = async (by: typeof loom, count: number): Promise<void> => {
      for (let nth = 0; nth < count; nth++) {
        await by.tasks.cancel((await by.enqueue(quick, undefined, { delay: '1h' })).id);
      }
    };
    await cancelMany(silent, 7);
    await harness.clock.advance('2m');
    await loom.worker().start();
    await cancelMany(loom, 5);
    await harness.clock.advance(FLUSH);
    const read = async () => sums(await loom.series.read({ step: 'minute' }));
    expect(await read()).toEqual({ enqueued: 12, canceled: 12 });
    await cancelMany(loom, 2);
    await harness.clock.advance(FLUSH);
    expect(await read()).toEqual({ enqueued: 14, canceled: 14 });
  });
});
