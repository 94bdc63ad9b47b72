/** Schedules as a user sees them, on every backend. */
import { beforeEach, describe, expect, it } from 'vitest';
import type { Fairloom } from '../../../src/client/client.ts';
import {
  InvalidOptionError,
  InvalidPayloadError,
  ScheduleNotFoundError,
} from '../../../src/domain/errors/errors.ts';
import type { SlotReferences } from '../../../src/schedules/template.ts';
import { task } from '../../../src/workflow/task-definition.ts';
import { eachBackend, opened } from '../../support/backends.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const ping = task('ping', async () => 'pong');
const report = task('report', async (input: { day: string; at: string }) => input);

eachBackend((open) => {
  const harness = opened(open);
  let loom: Fairloom;
  let start: number;
  beforeEach(async () => {
    loom = harness.loom([ping, report]);
    start = harness.clock.now();
  });

  const inputs = async (): Promise<readonly unknown[]> =>
    (await loom.tasks.list({ state: 'finished', limit: 500, values: true })).items.map(
      ({ input }) => input,
    );
  const ids = async (): Promise<readonly string[]> =>
    (await loom.tasks.list({ state: 'finished', limit: 500 })).items.map(({ id }) => id);

  describe('set', () => {
    it('tells what was stored, and when it fires', async () => {
      const info = await loom.schedules.set('nightly', {
        ...{ cron: '0 3 * * *', timeZone: 'Asia/Tokyo', task: ping, user: 'ops', priority: 'high' },
        ...{ jitter: '5m', limit: 9, missed: 'all', overlap: 'queue-one' },
      });
      expect(info).toEqual({
        ...{ id: 'nightly', task: 'ping', cron: '0 3 * * *', timeZone: 'Asia/Tokyo' },
        ...{ jitterMs: 300_000, limit: 9, missed: 'all', overlap: 'queue-one' },
        ...{
          user: 'ops',
          queue: 'default',
          priority: 4,
          state: 'active',
          nextAt: start + 6 * HOUR,
        },
        ...{ fired: 0, missedSlots: 0, overlappedSlots: 0, createdAt: start, updatedAt: start },
      });
      expect(await loom.schedules.get('nightly')).toEqual(info);
      expect(await loom.schedules.next('nightly', 2)).toEqual([
        new Date(start + 6 * HOUR),
        new Date(start + 30 * HOUR),
      ]);
    });

    it('one that names no zone keeps that of the client that set it', async () => {
      const tokyo = harness.loom([ping], { scheduler: { timeZone: 'Asia/Tokyo' } });
      const options = { cron: '0 3 * * *', task: ping } as const;
      const first = await tokyo.schedules.set('nightly', options);
      expect(first).toMatchObject({ timeZone: 'Asia/Tokyo', nextAt: start + 6 * HOUR });
      // Others see it as it was set, and fire it so; who sets it anew says which zone is meant.
      expect(await loom.schedules.get('nightly')).toEqual(first);
      const again = await loom.schedules.set('nightly', options);
      expect(again).toMatchObject({ timeZone: 'UTC', nextAt: start + 15 * HOUR });
      const wrong = { scheduler: { timeZone: 'Mars' } };
      expect(() => harness.loom([ping], wrong)).toThrow(InvalidOptionError);
      expect(() => harness.loom([ping], wrong)).toThrow(
        'scheduler.timeZone: expected an IANA time',
      );
    });

    it('the same again moves nothing, from any client', async () => {
      const options = { every: '10s', task: ping } as const;
      const first = await loom.schedules.set('often', options);
      await harness.clock.advance('4s');
      const others = Array.from({ length: 50 }, () => harness.loom([ping]));
      const infos = await Promise.all(others.map((one) => one.schedules.set('often', options)));
      expect(new Set(infos.map(({ nextAt }) => nextAt))).toEqual(new Set([start + 10_000]));
      expect(await loom.schedules.get('often')).toEqual(first);
    });

    it('50 processes at once make one schedule', async () => {
      const looms = Array.from({ length: 50 }, () => harness.loom([ping]));
      const options = { cron: '* * * * *', task: ping } as const;
      await Promise.all(looms.map((one) => one.schedules.set('one', options)));
      const { items } = await loom.schedules.list();
      expect(items).toMatchObject([{ id: 'one', nextAt: start + 60_000 }]);
      expect((await harness.backend.schedules.get('one')).record?.revision).toBe(1);
    });

    it('a change holds from the next slot on; its input moves no slot', async () => {
      const timing = { every: '1h', task: report } as const;
      await loom.schedules.set('a', { ...timing, input: { day: 'x', at: '1' } });
      await harness.clock.advance('30m');
      const changed = await loom.schedules.set('a', { ...timing, input: { day: 'y', at: '1' } });
      expect(changed.nextAt).toBe(start + HOUR);
      const other = await loom.schedules.set('a', {
        ...timing,
        every: '25m',
        input: { day: 'y', at: '1' },
      });
      // Still counted from where it began.
      expect(other.nextAt).toBe(start + 50 * 60_000);
      const cron = await loom.schedules.set('a', { cron: '0 0 * * *', task: ping });
      expect(cron).toMatchObject({ task: 'ping', nextAt: start + 12 * HOUR });
      expect(cron.everyMs).toBeUndefined();
    });

    it('refuses what makes no sense, and stores nothing', async () => {
      const bad: readonly object[] = [
        {},
        { cron: '0 0 31 4 *' },
        { cron: '*/0 * * * *' },
        { cron: '* '.repeat(5_000) },
        { cron: 5 },
        { cron: '* * * * *', every: '1m' },
        { cron: '* * * * *', timeZone: 'Mars/Olympus' },
        { every: '1m', timeZone: 'UTC' },
        { every: '999ms' },
        { every: 0 },
        { every: -1 },
        { every: Number.NaN },
        { every: Number.POSITIVE_INFINITY },
        { every: '1 fortnight' },
        { every: '1m', start: new Date(Number.NaN) },
        { every: '1m', start: 'tomorrow' },
        { every: '1m', start: 10, end: 5 },
        { every: '1m', limit: 0 },
        { every: '1m', limit: 1.5 },
        { every: '1m', jitter: '2d' },
        { every: '1m', jitter: -1 },
        { every: '1m', missed: 'some' },
        { every: '1m', missedCap: 0 },
        { every: '1m', missedCap: 1_001 },
        { every: '1m', overlap: 'maybe' },
        { every: '1m', id: 'x' },
        { every: '1m', dependsOn: ['x'] },
        { every: '1m', executeAfter: 5 },
        { every: '1m', user: '' },
        { every: '1m', queue: 'a b' },
        { every: '1m', priority: 9 },
      ];
      for (const options of bad) {
        const call = loom.schedules.set('a', { task: ping, ...options } as never);
        await expect(call, JSON.stringify(options)).rejects.toBeInstanceOf(InvalidOptionError);
      }
      for (const id of ['', 'a b', '~x', 'x'.repeat(65)]) {
        const call = loom.schedules.set(id, { every: '1m', task: ping });
        await expect(call).rejects.toBeInstanceOf(InvalidOptionError);
      }
      for (const other of [undefined, null, 5, 'ping', { name: 'ping' }]) {
        await expect(
          loom.schedules.set('a', { every: '1m', task: other } as never),
        ).rejects.toThrow();
      }
      const call = loom.schedules.set('a', {
        every: '1m',
        task: report,
        input: { day: Number.NaN } as never,
      });
      await expect(call).rejects.toBeInstanceOf(InvalidPayloadError);
      expect((await loom.schedules.list()).items).toEqual([]);
    });

    it('an input function is called once; its references are filled in at each slot', async () => {
      let calls = 0;
      await loom.schedules.set('a', {
        ...{ cron: '1,3 13 * * *', timeZone: 'Europe/Rome', task: report },
        input: (slot) => {
          calls++;
          return {
            day: slot.date,
            at: `at ${slot.time}, ${slot.iso}, ${slot.epochMs}, ${slot.taskId}`,
          };
        },
      });
      await loom.worker().start();
      await harness.clock.advance('3m');
      expect(calls).toBe(1);
      const [one, two] = [start + MINUTE, start + 3 * MINUTE];
      expect(await inputs()).toEqual([
        { day: '2026-01-05', at: `at 13:01:00, 2026-01-05T12:01:00.000Z, ${one}, ~s.a.${one}` },
        { day: '2026-01-05', at: `at 13:03:00, 2026-01-05T12:03:00.000Z, ${two}, ~s.a.${two}` },
      ]);
    });

    it('references are not to be computed with', async () => {
      const call = loom.schedules.set('a', {
        ...{ every: '1m', task: report },
        input: (slot) => ({ day: slot.date.slice(0, 3), at: '' }),
      });
      await expect(call).rejects.toThrow('unchanged references');
    });

    it('a schema sees the input of the first slot', async () => {
      const seen: unknown[] = [];
      const input = {
        '~standard': {
          ...{ version: 1 as const, vendor: 'test' },
          validate: (value: unknown) => {
            seen.push(value);
            return { value: value as { day: string } };
          },
        },
      };
      const checked = task('checked', { input }, async (one: { day: string }) => one.day);
      await loom.schedules.set('a', {
        ...{ every: '1h', task: checked },
        input: (slot: SlotReferences) => ({ day: slot.date }),
      });
      expect(seen).toEqual([{ day: '2026-01-05' }]);
    });
  });

  describe('by hand', () => {
    it('run starts its task once, and counts for nothing', async () => {
      await loom.schedules.set('a', {
        ...{ every: '1h', task: report, user: 'ann' },
        input: (slot) => ({ day: slot.date, at: slot.epochMs }),
      });
      await loom.schedules.pause('a');
      const handle = await loom.schedules.run('a');
      await loom.worker().start();
      expect(await handle.result()).toEqual({ day: '2026-01-05', at: String(start) });
      expect(await loom.tasks.get(handle.id)).toMatchObject({ user: 'ann', name: 'report' });
      expect(await loom.schedules.get('a')).toMatchObject({ fired: 0, state: 'paused' });
    });

    it('pause and resume: slots of the pause are not made up for', async () => {
      await loom.schedules.set('a', { every: '1m', task: ping });
      await loom.worker().start();
      await harness.clock.advance('1m');
      expect(await loom.schedules.pause('a')).toMatchObject({ state: 'paused' });
      expect(await loom.schedules.set('a', { every: '1m', task: ping })).toMatchObject({
        state: 'paused',
      });
      await harness.clock.advance('5m');
      expect(await loom.schedules.resume('a')).toMatchObject({ nextAt: start + 7 * MINUTE });
      await harness.clock.advance('1m');
      expect(await ids()).toEqual([1, 7].map((minute) => `~s.a.${start + minute * MINUTE}`));
    });

    it('backfill stores each slot once, and none of the future', async () => {
      await loom.schedules.set('a', { cron: '0 * * * *', task: ping });
      await harness.clock.advance('30m');
      const stretch = { from: start - 3 * HOUR, to: start };
      const slots = [3, 2, 1, 0].map((hours) => start - hours * HOUR);
      expect(await loom.schedules.backfill('a', stretch)).toEqual({
        ...{ created: slots, existing: [], refused: [] },
      });
      expect(await loom.schedules.backfill('a', { from: new Date(start - HOUR) })).toMatchObject({
        ...{ created: [], existing: slots.slice(2) },
      });
      await loom.users.set('default', { maxQueued: 5 });
      const more = await loom.schedules.backfill('a', { from: start - 5 * HOUR, to: start });
      expect(more).toMatchObject({ created: [start - 5 * HOUR], existing: slots });
      expect(more.refused).toMatchObject([
        { slot: start - 4 * HOUR, error: { code: 'QUEUE_FULL' } },
      ]);
      const future = loom.schedules.backfill('a', { from: 0, to: start + 2 * HOUR });
      await expect(future).rejects.toBeInstanceOf(InvalidOptionError);
      const long = loom.schedules.backfill('a', { from: 0 });
      await expect(long).rejects.toThrow('at most 10000 slots');
      expect((await harness.backend.inspect.stats()).counts.queued).toBe(5);
    });

    it('remove takes it away; what it has made stays', async () => {
      await loom.schedules.set('a', { every: '1m', task: ping });
      await loom.worker().start();
      await harness.clock.advance('1m');
      expect(await loom.schedules.remove('a')).toBe(true);
      expect(await loom.schedules.remove('a')).toBe(false);
      await harness.clock.advance('5m');
      expect(await ids()).toHaveLength(1);
      for (const call of ['next', 'run', 'pause', 'resume'] as const) {
        await expect(loom.schedules[call]('a')).rejects.toBeInstanceOf(ScheduleNotFoundError);
      }
      expect(await loom.schedules.get('a')).toBeUndefined();
    });

    it('lists in pages', async () => {
      for (const id of ['c', 'a', 'b']) await loom.schedules.set(id, { every: '1m', task: ping });
      const first = await loom.schedules.list({ limit: 2 });
      expect(first.items.map(({ id }) => id)).toEqual(['a', 'b']);
      const second = await loom.schedules.list({ limit: 2, cursor: first.cursor });
      expect(second.items.map(({ id }) => id)).toEqual(['c']);
    });

    it('setByName knows a task by its name alone', async () => {
      await loom.schedules.setByName('a', { every: '1m', name: 'report', input: { x: 1 } });
      await loom.worker().start();
      await harness.clock.advance('1m');
      expect(await inputs()).toEqual([{ x: 1 }]);
    });
  });
});
