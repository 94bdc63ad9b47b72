/** Counts by minute and hour: histograms that add up, rows as text, and what a queue has counted since. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LIMITS } from '../../src/domain/limits.ts';
import { NOTHING_COUNTED, putGrowth, type SeriesTotals } from '../../src/domain/series/growth.ts';
import { Histogram } from '../../src/domain/series/histogram.ts';
import {
  fieldOf,
  isOthers,
  placeOf,
  SERIES_COUNTS,
  SeriesRow,
} from '../../src/domain/series/series-row.ts';
import { SERIES_STEPS, stepsBetween } from '../../src/domain/series/series-steps.ts';

const DAYS_30 = 2_592_000_000;

/** Short ones, long ones, and all in between. */
const length = fc.oneof(
  fc.integer({ min: 0, max: 20 }),
  fc.double({ min: 0, max: Math.log2(DAYS_30), noNaN: true }).map((power) => 2 ** power),
);

function histogramOf(lengths: readonly number[]): Histogram {
  const made = new Histogram();
  for (const ms of lengths) made.note(ms);
  return made;
}

describe('a histogram', () => {
  it('added to another is that of all lengths', () => {
    fc.assert(
      fc.property(fc.array(length), fc.array(length), (one, other) => {
        const sum = histogramOf(one);
        sum.add(histogramOf(other));
        const whole = histogramOf([...one, ...other]);
        expect(sum.percentiles()).toEqual(whole.percentiles());
        expect(sum.count).toBe(one.length + other.length);
      }),
    );
  });

  it('comes back from its text', () => {
    fc.assert(
      fc.property(fc.array(length), (lengths) => {
        const made = histogramOf(lengths);
        expect(Histogram.of(made.text())?.percentiles()).toEqual(made.percentiles());
      }),
    );
  });

  it('says no percentile that is off by more than 9.1 %, and half a ms', () => {
    fc.assert(
      fc.property(fc.array(length, { minLength: 1 }), (lengths) => {
        const sorted = [...lengths].sort((a, b) => a - b);
        const { p50 = -1, p95 = -1, p99 = -1 } = histogramOf(lengths).percentiles() ?? {};
        for (const [said, share] of [
          [p50, 0.5],
          [p95, 0.95],
          [p99, 0.99],
        ] as const) {
          const right = sorted[Math.ceil(sorted.length * share) - 1] ?? 0;
          if (right < 1) expect(said).toBe(0);
          else expect(Math.abs(said - right)).toBeLessThanOrEqual(right * 0.091 + 0.5);
        }
      }),
    );
  });

  it('tells 95 of a hundred from 99', () => {
    const lengths = [...Array(95).fill(10), ...Array(4).fill(1_000), 100_000];
    const { p50 = 0, p95 = 0, p99 = 0 } = histogramOf(lengths).percentiles() ?? {};
    expect([p50, p95]).toEqual([10, 10]);
    expect(Math.abs(p99 - 1_000)).toBeLessThan(91);
  });

  it('takes in what is longer than 30 days, and is empty of nothing', () => {
    expect(histogramOf([DAYS_30 * 10]).percentiles()).toEqual(histogramOf([DAYS_30]).percentiles());
    expect(histogramOf([Number.NaN, -5]).percentiles()).toEqual({
      count: 2,
      p50: 0,
      p95: 0,
      p99: 0,
    });
    expect(new Histogram().percentiles()).toBeUndefined();
  });
});

describe('a row', () => {
  it('comes back from its text, and is nothing that is cut short', () => {
    const row = new SeriesRow();
    SERIES_COUNTS.forEach((what, at) => {
      for (let n = 0; n <= at; n++) row.count(what);
    });
    row.wait.note(20);
    row.run.note(3_000);
    const text = row.text();
    expect(text).toMatch(/^3 1 2 3 4 5 6 7;\d+:1;\d+:1$/);
    for (let at = 0; at < text.lastIndexOf(';'); at++) {
      expect([at, SeriesRow.of(text.slice(0, at))]).toEqual([at, undefined]);
    }
    for (const wrong of [`${text};`, `${text} x`, text.replace('3 1', '3 x'), `-${text}`]) {
      expect([wrong, SeriesRow.of(wrong)]).toEqual([wrong, undefined]);
    }
  });

  it('has a name that says whose it is', () => {
    fc.assert(
      fc.property(fc.constantFrom('', 'q', 'a.b'), fc.option(fc.string()), (queue, user) => {
        const place = user === null ? { queue } : { queue, user };
        expect(placeOf(fieldOf(place))).toEqual(place);
        expect(isOthers(place)).toBe(user === null ? queue === '' : user === '');
      }),
    );
    expect(placeOf('x:1')).toBeUndefined();
    expect(placeOf('u:1')).toBeUndefined();
  });
});

const TOTALS: SeriesTotals = {
  enqueued: 10,
  finished: 5,
  failed: 2,
  canceled: 1,
  retried: 4,
  lost: 3,
};
const KEPT = LIMITS.seriesHoursMs;

/** What a row of one enqueue and one start says after that. */
function grown(...args: Parameters<typeof putGrowth> extends [unknown, ...infer R] ? R : never) {
  const row = new SeriesRow();
  row.count('enqueued');
  row.count('started');
  putGrowth(row, ...args);
  return row.counts;
}

describe('what a queue has counted', () => {
  const own = { ...new SeriesRow().counts, enqueued: 1, started: 1 };

  it('stands in for what a process says, but for starts', () => {
    const before = { at: 0, totals: { ...TOTALS, enqueued: 4, lost: 0 } };
    expect(grown(before, { at: KEPT, totals: TOTALS })).toEqual({
      ...new SeriesRow().counts,
      started: 1,
      enqueued: 6,
      lost: 3,
    });
  });

  // F99
  it('is all of it since the queue began, and is not known of a queue of which no look is known', () => {
    const began = { at: 0, totals: NOTHING_COUNTED };
    expect(grown(began, { at: 0, totals: TOTALS })).toEqual({ ...TOTALS, started: 1 });
    expect(grown(undefined, { at: 0, totals: TOTALS })).toEqual(own);
  });

  it('is not known of one that was looked at too long ago', () => {
    const before = { at: 0, totals: { ...TOTALS, enqueued: 4 } };
    expect(grown(before, { at: KEPT + 1, totals: TOTALS })).toEqual(own);
  });

  it('is never below 0, after any repair of the totals', () => {
    const before = { at: 0, totals: { ...TOTALS, enqueued: 40 } };
    expect(grown(before, { at: 1, totals: TOTALS }).enqueued).toBe(0);
  });
});

describe('steps', () => {
  const { minute, hour } = SERIES_STEPS;

  it('are the newest, when no start is given', () => {
    const now = 1_000 * 3_600_000 + 5;
    expect(stepsBetween(hour, now, {})).toEqual({ first: 977, last: 1_000 });
    expect(stepsBetween(minute, now, {})).toEqual({ first: 59_941, last: 60_000 });
  });

  it('end before the moment that is said, and begin with that of the first', () => {
    const now = 1_000 * 3_600_000;
    const hours = (from: number, to: number) =>
      stepsBetween(hour, now, { from: from * 3_600_000, to: to * 3_600_000 });
    expect(hours(990.5, 995)).toEqual({ first: 990, last: 994 });
    expect(hours(990, 994.1)).toEqual({ first: 990, last: 994 });
    expect(hours(0, 2_000)).toEqual({ first: 1_000 - 31 * 24 + 1, last: 1_000 });
  });
});
