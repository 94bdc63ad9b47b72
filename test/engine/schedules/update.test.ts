/** Changing a part of a schedule, and looking at what it starts. */
import { beforeEach, describe, expect, it } from 'vitest';
import type { Fairloom } from '../../../src/client/client.ts';
import { task } from '../../../src/workflow/task-definition.ts';
import { eachBackend, opened } from '../../support/backends.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const work = task('work', async (input: { readonly day: string }) => input);
const double = task('double', async (n: number) => 2 * n);

eachBackend((open) => {
  const harness = opened(open);
  let loom: Fairloom;
  let start: number;
  beforeEach(async () => {
    loom = harness.loom([work, double]);
    start = harness.clock.now();
  });

  const nightly = (): Promise<unknown> =>
    loom.schedules.set('nightly', {
      ...{ cron: '0 3 * * *', timeZone: 'Asia/Tokyo', task: work, user: 'ops', priority: 'high' },
      ...{ jitter: '5m', limit: 9, missed: 'all', overlap: 'queue-one' },
      input: (slot) => ({ day: slot.date }),
    });

  describe('the input of a schedule', () => {
    // F32
    it('is shown, with the places of the facts of a slot', async () => {
      await nightly();
      await loom.schedules.set('plain', { every: '1h', task: double, input: 4 });
      const pair = double.pipe(double.as('again')).as('pair');
      await loom.schedules.set('run', { every: '1h', task: pair, input: 5 });
      expect(await loom.schedules.get('nightly')).toMatchObject({ input: { day: '<slot.date>' } });
      expect(await loom.schedules.get('plain')).toMatchObject({ input: 4 });
      expect(await loom.schedules.get('run')).toMatchObject({ input: 5 });
      const { items } = await loom.schedules.list();
      expect(items.map(({ input }) => input)).toEqual([{ day: '<slot.date>' }, 4, 5]);
    });
  });

  describe('update', () => {
    // F32
    it('changes the pattern and keeps the zone and all else', async () => {
      await nightly();
      const before = await loom.schedules.get('nightly');
      const changed = await loom.schedules.update('nightly', { cron: '0 5 * * *' });
      expect(changed).toEqual({ ...before, cron: '0 5 * * *', nextAt: start + 8 * HOUR });
      expect(await loom.schedules.get('nightly')).toEqual(changed);
      expect(await loom.schedules.update('nightly', { cron: '0 5 * * *' })).toEqual(changed);
    });

    // F32
    it('changes each field alone, and takes fields away', async () => {
      await nightly();
      const fields = {
        timeZone: 'Europe/Rome',
        missed: 'skip',
        overlap: 'allow',
        user: 'eva',
        queue: 'bulk',
        limit: 3,
      } as const;
      for (const [field, value] of Object.entries(fields)) {
        const before = await loom.schedules.get('nightly');
        const after = await loom.schedules.update('nightly', { [field]: value });
        const { nextAt: _next, ...rest } = after;
        expect({ ...before, ...rest }).toEqual({ ...before, [field]: value });
      }
      expect(await loom.schedules.update('nightly', { priority: 'low' })).toMatchObject({
        priority: 2,
      });
      expect(await loom.schedules.update('nightly', { input: { day: 'x' } })).toMatchObject({
        input: { day: 'x' },
      });
      const bare = await loom.schedules.update('nightly', { limit: 'default', jitter: 'default' });
      expect(bare).not.toHaveProperty('limit');
      expect(bare).not.toHaveProperty('jitterMs');
    });

    // F32
    it('fires what it says from the next slot on', async () => {
      await nightly();
      await loom.worker().start();
      await loom.schedules.update('nightly', { jitter: 'default', cron: '1 21 * * *' });
      await harness.clock.advance('1m');
      const { items } = await loom.tasks.list({ state: 'finished', values: true });
      expect(items).toMatchObject([{ user: 'ops', priority: 4, input: { day: '2026-01-05' } }]);
      await loom.schedules.update('nightly', { every: '1m', input: { day: 'each' } });
      await harness.clock.advance('1m');
      const after = await loom.tasks.list({ state: 'finished', values: true });
      expect(after.items.map(({ input }) => input)).toContainEqual({ day: 'each' });
      expect(await loom.schedules.get('nightly')).not.toHaveProperty('timeZone');
    });

    // F32
    it('leaves a paused schedule paused, and one that is over may go on', async () => {
      await nightly();
      await loom.schedules.pause('nightly');
      const patch = { cron: '0 5 * * *' };
      expect(await loom.schedules.update('nightly', patch)).toMatchObject({ state: 'paused' });
      const resumed = await loom.schedules.resume('nightly');
      expect(resumed).toMatchObject({ state: 'active', nextAt: start + 8 * HOUR });
      const ended = await loom.schedules.update('nightly', { end: start + 1 });
      expect(ended.state).toBe('over');
      const again = await loom.schedules.update('nightly', { end: 'default' });
      expect(again).toMatchObject({ state: 'active', nextAt: start + 8 * HOUR });
    });

    // F32
    it('of several at once none is lost, nor a pause between them', async () => {
      await nightly();
      await Promise.all([
        loom.schedules.update('nightly', { cron: '0 5 * * *' }),
        loom.schedules.update('nightly', { user: 'eva' }),
        loom.schedules.pause('nightly'),
        loom.schedules.update('nightly', { overlap: 'allow' }),
      ]);
      expect(await loom.schedules.get('nightly')).toMatchObject({
        ...{ cron: '0 5 * * *', timeZone: 'Asia/Tokyo', user: 'eva', overlap: 'allow' },
        state: 'paused',
      });
    });

    // F32
    it('a backfill goes by what it says now, and leaves what was stored', async () => {
      await loom.schedules.set('daily', { cron: '0 0 * * *', task: double, input: 1 });
      await harness.clock.advance('1h');
      const from = start - 3 * DAY;
      const first = await loom.schedules.backfill('daily', { from, to: start - 2 * DAY });
      expect(first.created).toHaveLength(1);
      await loom.schedules.update('daily', { input: 2 });
      const second = await loom.schedules.backfill('daily', { from });
      expect([second.created.length, second.existing]).toEqual([2, first.created]);
      const made = await loom.tasks.get(`~s.daily.${second.created[0]}`);
      expect(made?.input).toBe(2);
      expect((await loom.tasks.get(`~s.daily.${first.created[0]}`))?.input).toBe(1);
    });

    // F32
    it('changes the input of a pipeline, whose nodes stay where they are', async () => {
      const pair = double.pipe(double.as('again')).as('pair');
      await loom.schedules.set('run', { every: '1m', task: pair, input: 5 });
      const changed = await loom.schedules.update('run', { input: 6, user: 'eva' });
      expect(changed).toMatchObject({ input: 6, user: 'eva', task: 'pair' });
      await loom.worker().start();
      await harness.clock.advance('1m');
      const run = await loom.runs.get(`~s.run.${start + MINUTE}`);
      expect(run).toMatchObject({ input: 6, user: 'eva', state: 'finished' });
      await expect(loom.schedules.update('run', { queue: 'bulk' })).rejects.toThrow('queue');
    });

    // F32
    it('refuses what cannot be, and changes nothing', async () => {
      await nightly();
      const before = await loom.schedules.get('nightly');
      const { schedules } = loom;
      await expect(schedules.update('nightly', { cron: '61 * * * *' })).rejects.toThrow('cron');
      await expect(schedules.update('nightly', { cron: '0 5 * * *', every: '1h' })).rejects.toThrow(
        'cron',
      );
      const typo = { corn: '0 5 * * *' } as { cron?: string };
      await expect(schedules.update('nightly', typo)).rejects.toThrow('corn');
      await expect(schedules.update('nightly', { end: 'never' as never })).rejects.toThrow('end');
      await expect(schedules.update('nobody', { user: 'eva' })).rejects.toMatchObject({
        code: 'SCHEDULE_NOT_FOUND',
      });
      expect(await schedules.get('nightly')).toEqual(before);
    });
  });

  // O90
  it('a daily schedule makes two tasks in two days, however often a worker wakes', async () => {
    const many = { overlap: 'allow' } as const;
    await loom.schedules.set('daily', { cron: '0 0 * * *', task: double, input: 1, ...many });
    await loom.schedules.set('often', { every: '4h', task: double, input: 2, ...many });
    await loom.scheduler().start();
    // Woken every hour, by the other one or for nothing.
    for (let hour = 0; hour < 48; hour++) {
      await harness.jump(HOUR);
      await harness.clock.advance(0);
    }
    await harness.clock.advance('1m');
    expect(await loom.schedules.get('daily')).toMatchObject({ fired: 2, missedSlots: 0 });
    expect(await loom.schedules.get('often')).toMatchObject({ fired: 12 });
  });
});
