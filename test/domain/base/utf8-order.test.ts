import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compareUtf8 } from '../../../src/base/utf8-order.ts';

/** Of well-formed strings only: ids with lone surrogates are refused before they get here. */
const text = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 12 }),
  fc.string({ unit: 'grapheme', maxLength: 6 }),
  fc.string({
    unit: fc.constantFrom(
      'a',
      'b',
      '\u0000',
      'é',
      '\ud7ff',
      '\ue000',
      '\uffff',
      '💥',
      '😀',
      '\u{10ffff}',
    ),
    maxLength: 5,
  }),
);

describe('compareUtf8', () => {
  it('orders 100,000 pairs as the bytes of their UTF-8 do', () => {
    // Compared without `expect`, which is slow a hundred thousand times.
    const agrees = fc.property(text, text, (a, b) => {
      const expected = Buffer.compare(Buffer.from(a, 'utf8'), Buffer.from(b, 'utf8'));
      return Math.sign(compareUtf8(a, b)) === expected;
    });
    expect(fc.check(agrees, { numRuns: 100_000 })).toMatchObject({ failed: false });
  });

  it('puts astral characters after all others, where UTF-16 does not', () => {
    expect('\uffff' < '💥').toBe(false);
    expect(compareUtf8('\uffff', '💥')).toBeLessThan(0);
    expect(compareUtf8('💥', '\ue000')).toBeGreaterThan(0);
  });

  it('puts a prefix before what it begins', () => {
    expect(compareUtf8('user', 'user1')).toBeLessThan(0);
    expect(compareUtf8('', 'a')).toBeLessThan(0);
    expect(compareUtf8('a', 'a')).toBe(0);
  });
});
