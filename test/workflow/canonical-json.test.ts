/** RFC 8785: text that depends on content alone. */
import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { canonicalJson } from '../../src/base/canonical-json.ts';

/** Any JSON value, without lone surrogates. */
const json = fc.jsonValue({ stringUnit: 'grapheme', maxDepth: 5 });

/** The same value with the keys of every object in another order. */
function turned(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(turned);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([key, member]) => [key, turned(member)]);
  return Object.fromEntries(entries.reverse());
}

/** As it comes back from JSON: without −0. */
function usual(value: unknown): unknown {
  return JSON.parse(JSON.stringify([value]));
}

describe('canonicalJson', () => {
  it('writes the example of RFC 8785', () => {
    const value = {
      numbers: [Number('333333333.33333329'), 1e30, 4.5, 2e-3, 0.000000000000000000000000001],
      string: '\u20ac$\u000F\u000aA\'\u0042\u0022\u005c\\"/',
      literals: [null, true, false],
    };
    expect(canonicalJson(value)).toBe(
      '{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],' +
        '"string":"€$\\u000f\\nA\'B\\"\\\\\\\\\\"/"}',
    );
  });

  it('sorts keys by UTF-16 units, as RFC 8785 shows', () => {
    const keys = ['\u20ac', '\r', '\ufb33', '1', '\ud83d\ude00', '\u0080', '\u00f6'];
    const value = Object.fromEntries(keys.map((key) => [key, 0]));
    expect(Object.keys(JSON.parse(canonicalJson(value)))).toEqual([
      '1',
      '\r',
      '\u0080',
      '\u00f6',
      '\u20ac',
      '\ud83d\ude00',
      '\ufb33',
    ]);
    const text = canonicalJson(value);
    expect(text.indexOf('"\\r"')).toBeLessThan(text.indexOf('"1"'));
  });

  // O67
  it('has one text for equal values, in any order of their keys', () => {
    fc.assert(
      fc.property(json, (value) => {
        expect(canonicalJson(turned(value))).toBe(canonicalJson(value));
      }),
      { numRuns: 1_000 },
    );
  });

  it('reads back as the value', () => {
    fc.assert(
      fc.property(json, (value) => {
        expect(canonicalJson(JSON.parse(canonicalJson(value)))).toBe(canonicalJson(value));
        expect(JSON.parse(canonicalJson(value))).toEqual(JSON.parse(JSON.stringify(value)));
      }),
    );
  });

  // O67
  it('has another text when anything changes', () => {
    const different = fc
      .tuple(json, json)
      .filter(([one, other]) => !isDeepStrictEqual(usual(one), usual(other)));
    fc.assert(
      fc.property(different, fc.string({ unit: 'grapheme' }), ([one, other], key) => {
        expect(canonicalJson([one])).not.toBe(canonicalJson([other]));
        expect(canonicalJson({ [key]: one })).not.toBe(canonicalJson({ [`${key}x`]: one }));
      }),
    );
  });

  it('takes a key named __proto__, and leaves out what is undefined', () => {
    expect(canonicalJson(JSON.parse('{"__proto__":1}'))).toBe('{"__proto__":1}');
    expect(canonicalJson({ b: undefined, a: -0 })).toBe('{"a":0}');
  });

  it.each<[string, unknown]>([
    ['NaN', { n: Number.NaN }],
    ['a function', [() => 1]],
    ['undefined in an array', [undefined]],
    ['a bigint', 1n],
    ['a lone surrogate', 'x\ud800'],
    ['a lone surrogate in a key', { '\udc00': 1 }],
    ['a Date', new Date(0)],
    ['a Map', new Map()],
  ])('refuses %s', (_, value) => {
    expect(() => canonicalJson(value)).toThrow(TypeError);
  });

  it('refuses a cycle instead of exhausting the stack', () => {
    const ring: Record<string, unknown> = {};
    ring['self'] = ring;
    expect(() => canonicalJson(ring)).toThrow(/cycle/);
  });
});
