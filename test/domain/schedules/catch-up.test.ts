/** What becomes of slots that were not fired: none, one, all, and no more than is allowed. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { LIMITS } from '../../../src/domain/limits.ts';
import { type DueFacts, type FirePlan, planDue } from '../../../src/schedules/timing/catch-up.ts';
import { Timetable } from '../../../src/schedules/timing/timing.ts';

const MINUTE = 60_000;
const START = Date.UTC(2026, 0, 5, 12);

const minutely = new Timetable('m', { everyMs: MINUTE, anchor: START });

function plan(table: Timetable, facts: Partial<DueFacts> & { readonly now: number }): FirePlan {
  return planDue(table, { slot: START, missed: 'one', cap: 100, most: 50, ...facts });
}

it('fires a slot that is due', () => {
  const next = { slot: START + MINUTE, dueAt: START + MINUTE };
  expect(plan(minutely, { now: START })).toEqual({
    ...{ fire: [START], passed: 0, next },
    isLate: false,
  });
  const late = plan(minutely, { now: START + MINUTE });
  expect(late).toMatchObject({ fire: [START, START + MINUTE], isLate: true });
});

// O91
it('gives 1, 0 or all of what was missed', () => {
  const now = START + 3 * MINUTE + 30_000;
  const next = { slot: START + 4 * MINUTE, dueAt: START + 4 * MINUTE };
  const all = [0, 1, 2, 3].map((at) => START + at * MINUTE);
  expect(plan(minutely, { now, missed: 'one' })).toEqual({
    ...{ fire: [all[3]], passed: 3, next },
    isLate: true,
  });
  expect(plan(minutely, { now, missed: 'skip' })).toEqual({
    ...{ fire: [], passed: 4, next },
    isLate: true,
  });
  expect(plan(minutely, { now, missed: 'all' })).toEqual({
    ...{ fire: all, passed: 0, next },
    isLate: true,
  });
});

it('a slot counts as missed when it is more than a minute late', () => {
  const just = START + LIMITS.missedAfterMs;
  const hourly = new Timetable('h', { everyMs: 3_600_000, anchor: START });
  expect(plan(hourly, { now: just, missed: 'skip' }).fire).toEqual([START]);
  expect(plan(hourly, { now: just + 1, missed: 'skip' }).fire).toEqual([]);
});

it('fires the newest when the cap is less than what was missed', () => {
  const now = START + 1_000 * MINUTE + 1;
  const found = plan(minutely, { now, missed: 'all', cap: 3 });
  expect(found.fire).toEqual([998, 999, 1_000].map((at) => START + at * MINUTE));
  expect(found.passed).toBe(100);
});

it('is bounded: a week of seconds is passed over at once, and a step fires some', () => {
  const secondly = new Timetable('s', { everyMs: 1_000, anchor: START });
  const now = START + 7 * 86_400_000;
  expect(plan(secondly, { now }).passed).toBe(100);
  const all = plan(secondly, { now, missed: 'all', cap: 1_000, most: 20 });
  expect(all.fire).toHaveLength(20);
  expect(all.fire[0]).toBe(now - 999 * 1_000);
  expect(all.next?.slot).toBe((all.fire[19] ?? 0) + 1_000);
  const most = plan(secondly, { now, missed: 'all', cap: 1_000, most: 1_000 });
  expect(most.fire).toHaveLength(LIMITS.scheduleFirings);
});

it('is over after the last slot', () => {
  const three = new Timetable('t', { everyMs: MINUTE, anchor: START, end: START + 2 * MINUTE });
  for (const missed of ['one', 'skip', 'all'] as const) {
    expect(plan(three, { now: START + 500 * MINUTE, missed }).next).toBeUndefined();
  }
});

it('always moves on, and tells every slot once', () => {
  const patterns = ['*/5 * * * *', '0 3 * * *', '0 9-17 * * MON-FRI', '* * 1 1 *'];
  const timing = fc.record({
    cron: fc.constantFrom(...patterns),
    timeZone: fc.constantFrom('UTC', 'America/New_York', 'Australia/Lord_Howe'),
    jitterMs: fc.constantFrom(0, 1_000, 600_000),
  });
  const facts = fc.record({
    missed: fc.constantFrom('one', 'skip', 'all'),
    cap: fc.integer({ min: 1, max: 20 }),
    most: fc.integer({ min: 1, max: 50 }),
    lateMs: fc.integer({ min: 0, max: 40 * 86_400_000 }),
  });
  fc.assert(
    fc.property(timing, facts, (one, { lateMs, ...rest }) => {
      const table = new Timetable('x', one);
      const slot = table.next(START) ?? START;
      const now = table.dueAt(slot) + lateMs;
      const { fire, next } = planDue(table, { slot, now, ...rest });
      expect([...new Set(fire)].sort((a, b) => a - b)).toEqual(fire);
      for (const fired of fire) expect(table.dueAt(fired)).toBeLessThanOrEqual(now);
      expect(next?.slot).toBeGreaterThan(fire.at(-1) ?? slot);
      if (rest.missed !== 'all' && lateMs > LIMITS.missedAfterMs) {
        expect(fire).toHaveLength(rest.missed === 'one' ? 1 : 0);
      }
    }),
    { numRuns: 100 },
  );
});

it('jitter is a fact of schedule and slot, within its bounds', () => {
  const timing = { everyMs: MINUTE, anchor: START, jitterMs: 10_000 };
  const [a, again, b] = ['a', 'a', 'b'].map((id) => new Timetable(id, timing));
  const lates = Array.from(
    { length: 200 },
    (_, at) => (a?.dueAt(START + at * MINUTE) ?? 0) - START - at * MINUTE,
  );
  expect(Math.min(...lates)).toBeGreaterThanOrEqual(0);
  expect(Math.max(...lates)).toBeLessThanOrEqual(10_000);
  expect(new Set(lates).size).toBeGreaterThan(150);
  expect(again?.dueAt(START)).toBe(a?.dueAt(START));
  expect(b?.dueAt(START)).not.toBe(a?.dueAt(START));
});

it('every is anchored, whenever it is asked', () => {
  const table = new Timetable('e', { everyMs: 7_000, anchor: START, start: START });
  expect(table.next(START - 1)).toBe(START);
  expect(table.next(START)).toBe(START + 7_000);
  expect(table.next(START + 6_999)).toBe(START + 7_000);
  expect(table.next(START + 70_000_001)).toBe(START + 70_007_000);
});
