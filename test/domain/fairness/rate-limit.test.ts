import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  afterGiveBack,
  afterStart,
  allowedAt,
  type RateLimit,
} from '../../../src/domain/fairness/rate-limit.ts';

/** Starts as soon as it may, from `from` on; the moments of the first `n` starts. */
function greedy(rate: RateLimit, from: number, n: number): readonly number[] {
  const starts: number[] = [];
  let tat = 0;
  let now = from;
  for (let i = 0; i < n; i++) {
    now = Math.max(now, allowedAt(rate, tat));
    starts.push(now);
    tat = afterStart(rate, tat, now);
  }
  return starts;
}

describe('rate limit', () => {
  it('lets a burst through and then one per interval', () => {
    const rate: RateLimit = { limit: 10, perMs: 1_000, burst: 3 };
    expect(greedy(rate, 5_000, 6)).toEqual([5_000, 5_000, 5_000, 5_100, 5_200, 5_300]);
  });

  it('never lets more than limit + burst through in any period, however greedy', () => {
    const rate = fc.record({
      limit: fc.integer({ min: 1, max: 1_000 }),
      perMs: fc.integer({ min: 1, max: 100_000 }),
      burst: fc.integer({ min: 1, max: 50 }),
    });
    fc.assert(
      fc.property(rate, fc.integer({ min: 0, max: 2 ** 41 }), (given, from) => {
        const starts = greedy(given, from, 200);
        for (let i = 0; i < starts.length; i++) {
          const start = starts[i] ?? 0;
          const inPeriod = starts.filter((at) => at >= start && at < start + given.perMs).length;
          expect(inPeriod).toBeLessThanOrEqual(given.limit + given.burst);
        }
      }),
      { numRuns: 50 },
    );
  });

  it('reaches its limit over a long time', () => {
    for (const limit of [7, 900, 999]) {
      const starts = greedy({ limit, perMs: 1_000, burst: 1 }, 5_000, limit * 100 + 1);
      const tookMs = (starts.at(-1) ?? 0) - 5_000;
      expect([limit, Math.abs(tookMs - 100_000) <= 1]).toEqual([limit, true]);
    }
  });

  it('is full again after a pause, and no fuller', () => {
    const rate: RateLimit = { limit: 10, perMs: 1_000, burst: 2 };
    let tat = 0;
    for (const at of [0, 0]) tat = afterStart(rate, tat, at);
    expect(allowedAt(rate, tat)).toBeGreaterThan(0);
    const later = 1_000_000;
    for (const at of [later, later]) {
      expect(allowedAt(rate, tat)).toBeLessThanOrEqual(at);
      tat = afterStart(rate, tat, at);
    }
    expect(allowedAt(rate, tat)).toBe(later + 100);
  });

  it('allows another start at once when one is given back', () => {
    const rate: RateLimit = { limit: 1, perMs: 60_000, burst: 1 };
    const tat = afterStart(rate, 0, 1_000);
    expect(allowedAt(rate, tat)).toBe(61_000);
    expect(allowedAt(rate, afterGiveBack(rate, tat))).toBeLessThanOrEqual(1_000);
  });
});
