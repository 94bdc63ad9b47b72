/** Schedules in a test of a user's own: the clock is moved, and they fire. */
import { afterEach, expect, it } from 'vitest';
import { task } from '../../../src/index.ts';
import { type TestLoom, testLoom } from '../../../src/testing.ts';

/** 2026-01-05 12:00 UTC, where a test loom starts. */
const START = Date.UTC(2026, 0, 5, 12);
const HOUR = 3_600_000;

const report = task('report', async (input: { day: string }) => input.day);
const ping = task('ping', async () => 'pong');

let t: TestLoom;
afterEach(() => t.close());

it('fires when time passes', async () => {
  t = testLoom([report, ping]);
  await t.schedules.set('hourly', { cron: '0 * * * *', task: ping });
  await t.drain();
  expect(t.history).toEqual([]);
  await t.clock.advance('5h');
  expect(t.history.map(({ taskId }) => taskId)).toEqual(
    [1, 2, 3, 4, 5].map((hour) => `~s.hourly.${START + hour * HOUR}`),
  );
});

it('a year takes no longer than a minute, and clocks are changed on the way', async () => {
  t = testLoom([report, ping]);
  await t.schedules.set('nightly', {
    ...{ cron: '30 2 * * *', timeZone: 'Europe/Rome', task: report, user: 'ops' },
    input: (slot) => ({ day: slot.date }),
  });
  await t.clock.advance('365d');
  const days = t.spy(report).runs.map(({ input }) => input.day);
  expect(days).toHaveLength(365);
  expect(new Set(days).size).toBe(365);
  expect(t.order()[0]).toEqual(['ops', 'report']);
});

// O90
it('a daily schedule makes two tasks in two days, however often a worker wakes', async () => {
  t = testLoom([report, ping]);
  await t.schedules.set('daily', { cron: '0 0 * * *', task: report, input: { day: '' } });
  await t.schedules.set('often', { every: '7m', task: ping });
  await t.clock.advance('48h');
  expect(t.spy(report).runs).toHaveLength(2);
});

it('noon in UTC is not noon in New York, and a paused schedule does not count', async () => {
  t = testLoom([report, ping]);
  await t.schedules.set('utc', { cron: '0 13 * * *', task: ping });
  const timeZone = 'America/New_York';
  await t.schedules.set('new-york', { cron: '0 13 * * *', timeZone, task: ping });
  await t.schedules.set('paused', { cron: '0 13 * * *', task: ping });
  await t.schedules.pause('paused');
  await t.clock.advance('8h');
  expect(t.history.map(({ taskId }) => taskId)).toEqual([
    `~s.utc.${START + HOUR}`,
    `~s.new-york.${START + 6 * HOUR}`,
  ]);
});
