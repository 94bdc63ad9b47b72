import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { backoffMs, type RetryPolicy } from '../../src/domain/attempt/retry-policy.ts';
import { LIMITS } from '../../src/domain/limits.ts';

const POLICY: RetryPolicy = {
  retries: 3,
  kind: 'exponential',
  baseMs: 1_000,
  maxMs: 3_600_000,
  jitter: 'none',
};

const policy: fc.Arbitrary<RetryPolicy> = fc.record({
  retries: fc.integer({ min: 0, max: LIMITS.retriesMax }),
  kind: fc.constantFrom('exponential' as const, 'fixed' as const),
  baseMs: fc.oneof(
    fc.nat(),
    fc.integer({ min: 0, max: 2 ** 31 }),
    fc.double({ min: 0, max: Number.MAX_VALUE, noNaN: true }),
  ),
  maxMs: fc.oneof(fc.nat(), fc.integer({ min: 0, max: LIMITS.delayMaxMs })),
  jitter: fc.constantFrom('full' as const, 'equal' as const, 'none' as const),
});

describe('backoff', () => {
  // O69
  it('is an integer in [0, cap] for any attempt up to a million, any base and any cap', () => {
    const random = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
    const attempts = fc.integer({ min: 0, max: 1_000_000 });
    const bounded = fc.property(policy, attempts, random, (given, failures, drawn) => {
      const wait = backoffMs(given, failures, drawn);
      return Number.isInteger(wait) && wait >= 0 && wait <= given.maxMs;
    });
    expect(fc.check(bounded, { numRuns: 20_000 })).toMatchObject({ failed: false });
  });

  // O69
  it('holds at the attempts where a power overflows', () => {
    for (const failures of [1, 32, 35, 53, 64, 1_023, 1_024, 1_025, 100_000, 1_000_000]) {
      const wait = backoffMs(POLICY, failures, 0);
      expect([failures, wait]).toEqual([
        failures,
        Math.min(POLICY.maxMs, 1_000 * 2 ** (failures - 1)),
      ]);
    }
  });

  it('doubles from the base up to the cap', () => {
    const waits = [1, 2, 3, 4, 12, 13, 14].map((failures) => backoffMs(POLICY, failures, 0));
    expect(waits).toEqual([1_000, 2_000, 4_000, 8_000, 2_048_000, 3_600_000, 3_600_000]);
  });

  it('never shrinks while attempts go on', () => {
    fc.assert(
      fc.property(policy, fc.integer({ min: 1, max: 2_000 }), (given, failures) => {
        const usual: RetryPolicy = { ...given, jitter: 'none' };
        expect(backoffMs(usual, failures + 1, 0)).toBeGreaterThanOrEqual(
          backoffMs(usual, failures, 0),
        );
      }),
    );
  });

  it('stays the same when fixed', () => {
    const fixed: RetryPolicy = { ...POLICY, kind: 'fixed', baseMs: 250 };
    expect([1, 2, 50].map((failures) => backoffMs(fixed, failures, 0))).toEqual([250, 250, 250]);
  });

  it('spreads over the whole wait, or over its upper half', () => {
    const full: RetryPolicy = { ...POLICY, jitter: 'full' };
    const equal: RetryPolicy = { ...POLICY, jitter: 'equal' };
    expect([0, 0.5, 0.999_999].map((random) => backoffMs(full, 1, random))).toEqual([0, 500, 999]);
    expect([0, 0.5, 0.999_999].map((random) => backoffMs(equal, 1, random))).toEqual([
      500, 750, 999,
    ]);
  });
});
