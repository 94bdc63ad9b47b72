/** When cron patterns fire, where clocks are changed and elsewhere. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { InvalidOptionError } from '../../../src/domain/errors/errors.ts';
import { CronTimes } from '../../../src/schedules/timing/cron-times.ts';
import { PATTERNS } from '../../cron/patterns.ts';

/** The first instants after a moment, as ISO texts to the second. */
function fires(pattern: string, zone: string, after: string, count = 3): readonly string[] {
  const times = new CronTimes(pattern, zone);
  const found: string[] = [];
  for (let at = Date.parse(after); found.length < count; ) {
    const next = times.next(at);
    if (next === undefined) break;
    found.push(new Date(next).toISOString().replace('.000Z', 'Z'));
    at = next;
  }
  return found;
}

describe('fixed times of day', () => {
  // O84
  it('a weekly time goes on after the gap (Europe/Rome 2025)', () => {
    expect(fires('0 5 * * 7', 'Europe/Rome', '2025-03-29T00:00Z', 2)).toEqual([
      '2025-03-30T03:00:00Z',
      '2025-04-06T03:00:00Z',
    ]);
  });

  // O89
  it('a time in the gap fires once, at its end (US/Pacific 2025)', () => {
    expect(fires('0 2 * * *', 'US/Pacific', '2025-03-08T11:00Z', 2)).toEqual([
      '2025-03-09T10:00:00Z',
      '2025-03-10T09:00:00Z',
    ]);
  });

  it('several times in one gap fire once together', () => {
    expect(fires('0,15,30 2 * * *', 'US/Pacific', '2025-03-09T00:00Z', 2)).toEqual([
      '2025-03-09T10:00:00Z',
      '2025-03-10T09:00:00Z',
    ]);
  });

  it('a time that clocks show twice fires the first time', () => {
    expect(fires('30 1 * * *', 'US/Pacific', '2025-11-02T07:00Z', 2)).toEqual([
      '2025-11-02T08:30:00Z',
      '2025-11-03T09:30:00Z',
    ]);
  });

  // O85
  it('zones whose day begins in a gap', () => {
    const first = (zone: string, after: string): string | undefined =>
      fires('0 0 * * *', zone, after, 1)[0];
    expect(first('America/Sao_Paulo', '2014-10-18T12:00Z')).toBe('2014-10-19T03:00:00Z');
    expect(first('Africa/Cairo', '2026-04-23T12:00Z')).toBe('2026-04-23T22:00:00Z');
    expect(first('Asia/Beirut', '2026-03-28T12:00Z')).toBe('2026-03-28T22:00:00Z');
    expect(first('America/Havana', '2026-03-07T12:00Z')).toBe('2026-03-08T05:00:00Z');
    expect(fires('0 1 30 3 *', 'Europe/Lisbon', '2024-04-01T00:00Z', 2)).toEqual([
      '2025-03-30T01:00:00Z',
      '2026-03-30T00:00:00Z',
    ]);
  });

  it('a shift of 30 minutes (Australia/Lord_Howe)', () => {
    expect(fires('15 2 * * *', 'Australia/Lord_Howe', '2026-10-02T16:00Z', 2)).toEqual([
      '2026-10-03T15:30:00Z',
      '2026-10-04T15:15:00Z',
    ]);
  });

  it('a day that a zone leaves out (Pacific/Apia 2011)', () => {
    expect(fires('0 9 * * *', 'Pacific/Apia', '2011-12-29T00:00Z', 3)).toEqual([
      '2011-12-29T19:00:00Z',
      '2011-12-30T10:00:00Z',
      '2011-12-30T19:00:00Z',
    ]);
  });
});

describe('intervals', () => {
  it('follow real time through a gap and an overlap', () => {
    for (const after of ['2025-03-09T08:00Z', '2025-11-02T07:00Z']) {
      const found = fires('*/15 * * * *', 'US/Pacific', after, 16).map(Date.parse);
      const gaps = found.slice(1).map((at, index) => at - (found[index] ?? 0));
      expect(new Set(gaps)).toEqual(new Set([15 * 60_000]));
    }
  });

  // O88
  it('of several hours do not drift, and fire in no gap', () => {
    expect(fires('20 */4 * * *', 'America/Los_Angeles', '2025-03-09T05:00Z', 3)).toEqual([
      '2025-03-09T08:20:00Z',
      '2025-03-09T11:20:00Z',
      '2025-03-09T15:20:00Z',
    ]);
    expect(fires('0,15,30,45 6-22 * * *', 'Europe/Brussels', '2025-03-30T20:30Z', 2)).toEqual([
      '2025-03-30T20:45:00Z',
      '2025-03-31T04:00:00Z',
    ]);
    expect(fires('0 7,9 * * *', 'Europe/Brussels', '2025-03-29T09:00Z', 2)).toEqual([
      '2025-03-30T05:00:00Z',
      '2025-03-30T07:00:00Z',
    ]);
  });

  it('a range of hours is one: what clocks skip is not made up for', () => {
    expect(fires('30 2-4 * * *', 'US/Pacific', '2025-03-09T08:00Z', 2)).toEqual([
      '2025-03-09T10:30:00Z',
      '2025-03-09T11:30:00Z',
    ]);
  });

  it('of a shift of 30 minutes', () => {
    expect(fires('*/20 * * * *', 'Australia/Lord_Howe', '2026-04-04T14:40Z', 4)).toEqual([
      '2026-04-04T15:10:00Z',
      '2026-04-04T15:30:00Z',
      '2026-04-04T15:50:00Z',
      '2026-04-04T16:10:00Z',
    ]);
  });
});

// O86
it('finds rare dates: leap days, also across 2100, and Mondays on them', () => {
  expect(fires('0 0 29 2 *', 'UTC', '2025-01-01T00:00Z', 1)).toEqual(['2028-02-29T00:00:00Z']);
  expect(fires('0 0 29 2 *', 'UTC', '2096-03-01T00:00Z', 1)).toEqual(['2104-02-29T00:00:00Z']);
  expect(fires('0 0 29 2 +1', 'UTC', '2025-01-01T00:00Z', 1)).toEqual(['2044-02-29T00:00:00Z']);
  expect(fires('0 0 31 * *', 'UTC', '2026-03-31T12:00Z', 2)).toEqual([
    '2026-05-31T00:00:00Z',
    '2026-07-31T00:00:00Z',
  ]);
  expect(fires('59 59 23 31 12 *', 'UTC', '2026-06-01T00:00Z', 1)).toEqual([
    '2026-12-31T23:59:59Z',
  ]);
});

// O86
describe('refuses what never fires, and what is no pattern', () => {
  for (const pattern of [
    ...['0 0 31 4 *', '0 0 30 2 *', '0 0 31 2,4,6,9,11 *', '0 0 30W 2 *'],
    ...['*/0 * * * *', '0/0 * * * *', '60 * * * *', '0 24 * * *', '0 0 0 * *', '0 0 1 13 *'],
    ...['', ' ', '* * * *', '* * * * * * *', 'a b c d e', '1-0 * * * *', '5-1 * * * *'],
    ...[',* * * * *', '1,,2 * * * *', '-1 * * * *', '1.5 * * * *', '0x1 * * * *', 'H * * * *'],
    ...['@reboot', '@never', '2026-01-01T00:00:00', `${'0,'.repeat(5_000)}0 * * * *`],
    ...['* '.repeat(5_000), '*'.repeat(10_240), '\u{1f600} * * * *', '* * * * *\u0000'],
  ]) {
    it(JSON.stringify(pattern.slice(0, 40)), () => {
      expect(() => new CronTimes(pattern, 'UTC')).toThrow(InvalidOptionError);
    });
  }

  it('values of any other type', () => {
    for (const value of [undefined, null, 5, {}, [], new Date(), Number.NaN]) {
      expect(() => new CronTimes(value, 'UTC')).toThrow(InvalidOptionError);
    }
  });
});

it('refuses unknown zones', () => {
  const zones = ['', 'Mars/Olympus', '+02:00', 'Europe', 'UTC\u0000', 'x'.repeat(10_240)];
  for (const zone of [...zones, 5, null, {}]) {
    expect(() => new CronTimes('* * * * *', zone)).toThrow(InvalidOptionError);
  }
});

// O83 O87
it('the next instant is always later, for any pattern, zone and moment', () => {
  const zones = Intl.supportedValuesOf('timeZone');
  const moment = fc.integer({ min: Date.UTC(1971, 0, 1), max: Date.UTC(2060, 0, 1) });
  fc.assert(
    fc.property(
      fc.constantFrom(...PATTERNS),
      fc.constantFrom(...zones),
      moment,
      (one, zone, at) => {
        const next = new CronTimes(one.text, zone).next(at);
        expect(next).toBeGreaterThan(at);
      },
    ),
    { numRuns: 400 },
  );
});

// O85
it('answers within 50 ms, for any pattern', () => {
  const cases = [
    ['0 0 29 2 +1', 'America/Sao_Paulo', '2014-10-19T00:00Z'],
    ['* * 29 2 *', 'Africa/Casablanca', '2025-03-01T00:00Z'],
    ['* 0,1,2,3 1,2,3 * * *', 'America/Havana', '2026-11-01T05:30Z'],
    ['0 1 30 3 *', 'Europe/Lisbon', '2025-01-01T00:00Z'],
    ['0 0 * * *', 'Asia/Beirut', '2026-03-28T12:00Z'],
    ['0 0 * * *', 'Africa/Cairo', '2026-04-23T12:00Z'],
  ] as const;
  for (const [pattern, zone, after] of cases) {
    // Time of this process alone: others may keep the machine busy. The best of a few counts.
    const spent = [1, 2, 3].map(() => {
      const times = new CronTimes(pattern, zone);
      const before = process.cpuUsage();
      times.next(Date.parse(after));
      const { user, system } = process.cpuUsage(before);
      return (user + system) / 1_000;
    });
    expect(Math.min(...spent)).toBeLessThan(50);
  }
});
