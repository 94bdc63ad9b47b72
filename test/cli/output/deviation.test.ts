/** The demo's figures on histories whose answer is known. */
import { describe, expect, it } from 'vitest';
import { Deviation } from '../../../src/cli/demo/deviation.ts';
import { jainIndex, percentile, seededRandom } from '../../../src/cli/demo/statistics.ts';

describe('Deviation', () => {
  it('is 0 for a user that is alone', () => {
    const deviation = new Deviation();
    deviation.backlogged(new Map([['a', 3]]));
    for (let turn = 0; turn < 10; turn++) deviation.leased('a');
    expect(deviation.max).toBe(0);
  });

  it('counts from the exact weighted share', () => {
    const deviation = new Deviation();
    deviation.backlogged(
      new Map([
        ['a', 3],
        ['b', 1],
      ]),
    );
    for (const user of ['a', 'a', 'a']) deviation.leased(user);
    expect(deviation.of('a')).toBeCloseTo(0.75);
    expect(deviation.of('b')).toBeCloseTo(-0.75);
    deviation.leased('b');
    expect(deviation.of('a')).toBeCloseTo(0);
    expect(deviation.max).toBeCloseTo(0.75);
  });

  it('lets a newcomer start at 0 without touching the others', () => {
    const deviation = new Deviation();
    deviation.backlogged(new Map([['a', 1]]));
    deviation.leased('a');
    deviation.backlogged(
      new Map([
        ['a', 1],
        ['b', 1],
      ]),
    );
    deviation.leased('b');
    expect(deviation.of('a')).toBeCloseTo(-0.5);
    expect(deviation.of('b')).toBeCloseTo(0.5);
  });

  it('starts everybody again when a user runs dry', () => {
    const deviation = new Deviation();
    const both = new Map([
      ['a', 1],
      ['b', 1],
    ]);
    deviation.backlogged(both);
    deviation.leased('a');
    deviation.backlogged(new Map([['b', 1]]));
    deviation.backlogged(both);
    expect(deviation.of('a')).toBe(0);
    expect(deviation.of('b')).toBe(0);
  });
});

describe('statistics', () => {
  it('has a Jain index of 1 for equal parts, and 1/n for one that got all', () => {
    expect(jainIndex([2, 2, 2, 2])).toBeCloseTo(1);
    expect(jainIndex([0, 0, 0, 5])).toBeCloseTo(0.25);
    expect(jainIndex([])).toBe(1);
  });

  it('has percentiles by rank', () => {
    const values = Array.from({ length: 100 }, (_none, at) => 100 - at);
    expect(percentile(values, 0.5)).toBe(50);
    expect(percentile(values, 0.99)).toBe(99);
    expect(percentile([7], 0.99)).toBe(7);
    expect(percentile([], 0.5)).toBe(0);
  });

  it('draws the same numbers for the same seed', () => {
    const [first, second, other] = [seededRandom(7), seededRandom(7), seededRandom(8)];
    const numbers = [first(), first(), first()];
    expect([second(), second(), second()]).toEqual(numbers);
    expect([other(), other(), other()]).not.toEqual(numbers);
    expect(numbers.every((number) => number >= 0 && number < 1)).toBe(true);
  });
});
