/** What makes schedules fire, and what does not stop them. */
import { beforeEach, describe, expect, it } from 'vitest';
import type { Fairloom } from '../../../src/client/client.ts';
import { InvalidOptionError } from '../../../src/domain/errors/errors.ts';
import { parallel } from '../../../src/workflow/parallel.ts';
import { task } from '../../../src/workflow/task-definition.ts';
import { eachBackend, opened } from '../../support/backends.ts';

const MINUTE = 60_000;
const ping = task('ping', async () => 'pong');

eachBackend((open) => {
  const harness = opened(open);
  let loom: Fairloom;
  let start: number;
  beforeEach(async () => {
    loom = harness.loom([ping]);
    start = harness.clock.now();
  });

  const ids = async (): Promise<readonly string[]> =>
    (await loom.tasks.list({ state: 'finished', limit: 500 })).items.map(({ id }) => id);

  describe('firing', () => {
    // A-W13
    it('overlapping firings are tasks of their own', async () => {
      await loom.schedules.set('a', { every: '10s', task: ping, overlap: 'allow' });
      await loom.worker().start();
      await harness.clock.advance('30s');
      expect(await ids()).toEqual([1, 2, 3].map((at) => `~s.a.${start + at * 10_000}`));
    });

    // A-W14
    it('delayed tasks of a schedule run by themselves', async () => {
      await loom.schedules.set('a', { every: '5m', task: ping, delay: '1m' });
      await loom.worker().start();
      await harness.clock.advance('359s');
      expect(await ids()).toEqual([]);
      await harness.clock.advance('1s');
      expect(await ids()).toEqual([`~s.a.${start + 5 * MINUTE}`]);
    });

    // A-W15
    it('a delayed task waits for its dependency too', async () => {
      const before = await loom.enqueue(ping, undefined, { delay: '20m' });
      const after = await loom.enqueue(ping, undefined, { delay: '10m', dependsOn: [before.id] });
      await loom.worker().start();
      await harness.clock.advance('15m');
      expect((await loom.tasks.get(after.id))?.state).toBe('deferred');
      await harness.clock.advance('10m');
      expect(new Set(await ids())).toEqual(new Set([before.id, after.id]));
    });

    // O74
    it('a key that is held stops no schedule', async () => {
      await loom.schedules.set('a', {
        every: '1s',
        task: ping,
        idempotencyKey: 'k',
        overlap: 'allow',
      });
      await loom.enqueue(ping, undefined, { idempotencyKey: 'k', idempotency: { ttl: '5s' } });
      const worker = loom.worker();
      const skipped: unknown[] = [];
      worker.on('schedule.skipped', ({ slot, reason }) => skipped.push([slot - start, reason]));
      await worker.start();
      await harness.clock.advance('8s');
      expect(skipped).toEqual([1, 2, 3, 4].map((at) => [at * 1_000, 'existing']));
      const made = (await ids()).filter((id) => id.startsWith('~s.'));
      expect(made).toEqual([5, 6, 7, 8].map((at) => `~s.a.${start + at * 1_000}`));
    });

    it('a handler that fails, and a full queue, stop no schedule; events say so', async () => {
      const bad = task('bad', { retries: 0 }, async () => Promise.reject(new Error('no')));
      const mine = harness.loom([bad]);
      await mine.schedules.set('bad', { every: '1m', task: bad, user: 'ann' });
      await mine.schedules.set('full', { every: '1m', task: bad, user: 'bea' });
      await mine.users.set('bea', { maxQueued: 1 });
      await mine.enqueue(bad, undefined, { user: 'bea', delay: '1d' });
      const worker = mine.worker();
      const missed: string[] = [];
      worker.on('schedule.missed', ({ schedule, slots, error }) => {
        missed.push(`${schedule} ${slots} ${error?.code}`);
      });
      await worker.start();
      await harness.clock.advance('3m');
      expect((await mine.tasks.list({ state: 'failed' })).items).toHaveLength(3);
      expect(missed).toEqual(['full 1 QUEUE_FULL', 'full 1 QUEUE_FULL', 'full 1 QUEUE_FULL']);
      expect(await mine.schedules.get('full')).toMatchObject({ fired: 0, missedSlots: 3 });
    });

    it('start, end and limit', async () => {
      const [from, to] = [new Date(start + 90_000), new Date(start + 200_000)];
      await loom.schedules.set('stretch', { every: '1m', start: from, end: to, task: ping });
      await loom.schedules.set('twice', { cron: '* * * * *', limit: 2, task: ping });
      await loom.worker().start();
      await harness.clock.advance('10m');
      expect(await ids()).toEqual([
        `~s.twice.${start + 60_000}`,
        `~s.stretch.${start + 90_000}`,
        `~s.twice.${start + 120_000}`,
        `~s.stretch.${start + 150_000}`,
      ]);
      for (const id of ['stretch', 'twice']) {
        expect(await loom.schedules.get(id)).toMatchObject({ state: 'over', fired: 2 });
        expect(await loom.schedules.next(id)).toEqual([]);
      }
    });

    it('jitter makes a slot late, always by the same', async () => {
      await loom.schedules.set('a', { every: '2m', jitter: '1m', task: ping });
      const worker = loom.worker();
      const lates: number[] = [];
      const times: number[] = [];
      worker.on('schedule.fired', ({ slot, lateMs }) => {
        lates.push(lateMs);
        times.push(harness.clock.now() - slot);
      });
      await worker.start();
      await harness.clock.advance('20m');
      expect(new Set(lates)).toEqual(new Set([0]));
      expect(Math.max(...times)).toBeLessThanOrEqual(60_000);
      expect(new Set(times).size).toBeGreaterThan(5);
    });

    it('a worker without a scheduler fires nothing, and does not spin', async () => {
      await loom.schedules.set('a', { every: '1m', task: ping });
      await loom.worker({ scheduler: false }).start();
      let calls = 0;
      const { tasks } = harness.backend;
      const lease = tasks.lease.bind(tasks);
      tasks.lease = (request) => {
        calls++;
        return lease(request);
      };
      await harness.clock.advance('2m');
      expect(await ids()).toEqual([]);
      expect(calls).toBeLessThan(120);
    });

    it('a scheduler without a worker fires', async () => {
      const scheduler = loom.scheduler({ id: 'only' });
      const fired: number[] = [];
      scheduler.on('schedule.fired', ({ slot }) => fired.push(slot - start));
      await scheduler.start();
      await loom.schedules.set('a', { every: '10s', task: ping, overlap: 'allow' });
      await harness.clock.advance('30s');
      expect(fired).toEqual([10_000, 20_000, 30_000]);
      await Promise.all([scheduler.stop(), harness.clock.advance('2s')]);
      await harness.clock.advance('30s');
      expect(fired).toHaveLength(3);
    });
  });

  describe('pipelines', () => {
    const double = task('double', async (n: number) => n * 2);
    const half = task('half', async (n: number) => n / 2);
    const sum = task('sum', async ({ a, b }: { a: number; b: number }) => a + b);
    const pipeline = double
      .pipe(parallel({ a: double.as('again'), b: half }))
      .pipe(sum)
      .as('numbers');

    it('start a run at each slot, and keep their graph until then', async () => {
      const mine = harness.loom([pipeline]);
      await mine.schedules.set('daily', { cron: '5 12 * * *', task: pipeline, input: 3 });
      await mine.worker().start();
      await harness.clock.advance('6m');
      const slot = start + 5 * MINUTE;
      const id = `~s.daily.${slot}`;
      expect(await mine.runs.get(id)).toMatchObject({
        ...{ id, name: 'numbers', form: 'driven', state: 'finished', input: 3 },
      });
      expect((await mine.tasks.get(id))?.result).toBe(15);
      expect(await mine.schedules.get('daily')).toMatchObject({ task: 'numbers', fired: 1 });
      const byHand = await mine.schedules.run('daily');
      expect(await byHand.result()).toBe(15);
      const form = { every: '1m', task: pipeline, input: 3, form: 'dispatched' } as never;
      await expect(mine.schedules.set('x', form)).rejects.toBeInstanceOf(InvalidOptionError);
    });
  });
});
