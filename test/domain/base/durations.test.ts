import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Duration, durationMs } from '../../../src/base/time.ts';

describe('durationMs', () => {
  it('reads numbers as milliseconds and texts with their unit', () => {
    const texts: readonly Duration[] = ['250ms', '30s', '5m', '2h', '7d', '1.5s', '0s', '-2s'];
    expect(texts.map(durationMs)).toEqual([
      250, 30_000, 300_000, 7_200_000, 604_800_000, 1_500, 0, -2_000,
    ]);
    expect([0, 1, 12.4, 12.5, -3].map(durationMs)).toEqual([0, 1, 12, 13, -3]);
  });

  // O82
  it('answers undefined to what is no length of time', () => {
    const wrong: readonly unknown[] = [
      Number.NaN,
      Number.POSITIVE_INFINITY,
      Number.NEGATIVE_INFINITY,
      '',
      '5',
      's',
      '5 s',
      '5sec',
      '1e3s',
      '0x10s',
      'Infinitys',
      '--5s',
      '5s ',
      '5s\n',
      `${'9'.repeat(400)}d`,
    ];
    expect(wrong.map((value) => durationMs(value as Duration))).toEqual(wrong.map(() => undefined));
  });

  it('answers a safe integer or undefined, for any text', () => {
    const unit = fc.constantFrom('ms', 's', 'm', 'h', 'd');
    const amount = fc.oneof(fc.integer(), fc.double({ noNaN: true }), fc.bigInt());
    fc.assert(
      fc.property(amount, unit, (value, suffix) => {
        const ms = durationMs(`${value}${suffix}` as Duration);
        expect(ms === undefined || Number.isSafeInteger(ms)).toBe(true);
      }),
    );
  });
});
