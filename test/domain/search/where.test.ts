/** The filter language: what is read, what is refused and where, and that it comes back as it was. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { InvalidOptionError } from '../../../src/domain/errors/errors.ts';
import { LIMITS } from '../../../src/domain/limits.ts';
import { TASK_STATES } from '../../../src/domain/task/task.ts';
import { valuesOf, type Where, whereOf, whereText } from '../../../src/search/where.ts';

function refusal(text: unknown): string {
  try {
    whereOf(text);
  } catch (error) {
    expect(error).toBeInstanceOf(InvalidOptionError);
    return (error as InvalidOptionError).message;
  }
  return 'none';
}

const aName = fc.stringMatching(/^[A-Za-z0-9][A-Za-z0-9._-]{0,9}$/);
const anId = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 20 });
const several = <T>(one: fc.Arbitrary<T>): fc.Arbitrary<T[]> =>
  fc.uniqueArray(one, { minLength: 1, maxLength: 3 });
const isNot = fc.boolean();
const is = fc.constantFrom('<', '<=', '=', '>=', '>');

const aCondition = fc.oneof(
  fc.record({
    word: fc.constant('state'),
    isNot,
    values: several(fc.constantFrom(...TASK_STATES)),
  }),
  fc.record({ word: fc.constantFrom('user', 'run', 'id', 'error'), isNot, values: several(anId) }),
  fc.record({ word: fc.constantFrom('queue', 'name'), isNot, values: several(aName) }),
  fc.record({
    word: fc.constant('priority'),
    isNot,
    bounds: several(fc.record({ is, size: fc.integer({ min: 1, max: 6 }) })),
  }),
  fc.record({
    word: fc.constant('attempts'),
    isNot,
    bounds: several(fc.record({ is, size: fc.nat(1_000) })),
  }),
  fc.record({
    word: fc.constantFrom('age', 'wait'),
    isNot,
    bounds: several(fc.record({ is, size: fc.nat(10 ** 10) })),
  }),
  fc.record({ word: fc.constant('text'), isNot, text: anId }),
);

/** As a text gives them: conditions on the same word are one. */
const aWhere = fc
  .array(aCondition, { maxLength: 6 })
  .map((conditions) => {
    const seen = new Set<string>();
    return conditions.filter((condition) => {
      if (!('values' in condition)) return true;
      const key = `${condition.isNot}${condition.word}`;
      return !seen.has(key) && seen.add(key);
    }) as Where;
  })
  .filter((where) => whereText(where).length <= LIMITS.whereLength);

describe('the filter language', () => {
  it('reads what it has written', () => {
    fc.assert(
      fc.property(aWhere, (where) => {
        expect(whereOf(whereText(where))).toEqual(where);
      }),
    );
  });

  it('reads any text, or says at which character it does not', () => {
    const piece = fc.oneof(
      fc.constantFrom(
        'state:',
        'user:',
        'age:>',
        '-',
        ',',
        ' ',
        '"',
        '\\',
        'failed',
        '1h',
        'x',
        ':',
      ),
      fc.string({ maxLength: 3 }),
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
        const text = pieces.join('');
        let where: Where;
        try {
          where = whereOf(text);
        } catch (error) {
          expect(error).toBeInstanceOf(InvalidOptionError);
          const at = Number(/at character (\d+), got/.exec((error as Error).message)?.[1]);
          expect(at).toBeGreaterThan(0);
          expect(at).toBeLessThanOrEqual(text.length + 1);
          return;
        }
        expect(whereOf(whereText(where))).toEqual(where);
      }),
      { numRuns: 1_000 },
    );
  });

  it('takes values by commas and by repetition', () => {
    const where = whereOf(
      'state:failed,canceled  user:acme state:failed,queued -user:x -user:y,"z z"',
    );
    expect(where).toEqual([
      { word: 'state', isNot: false, values: ['failed', 'canceled', 'queued'] },
      { word: 'user', isNot: false, values: ['acme'] },
      { word: 'user', isNot: true, values: ['x', 'y', 'z z'] },
    ]);
    expect(whereText(where)).toBe('state:failed,canceled,queued user:acme -user:x,y,"z z"');
    expect([valuesOf(where, 'user'), valuesOf(where, 'queue')]).toEqual([['acme'], undefined]);
  });

  it('compares sizes, and keeps repeated ones apart, so that they are a range', () => {
    const where = whereOf('age:>90m age:<=2d priority:high,>=5 attempts:2 wait:<500ms');
    expect(where).toEqual([
      { word: 'age', isNot: false, bounds: [{ is: '>', size: 5_400_000 }] },
      { word: 'age', isNot: false, bounds: [{ is: '<=', size: 172_800_000 }] },
      {
        word: 'priority',
        isNot: false,
        bounds: [
          { is: '=', size: 4 },
          { is: '>=', size: 5 },
        ],
      },
      { word: 'attempts', isNot: false, bounds: [{ is: '=', size: 2 }] },
      { word: 'wait', isNot: false, bounds: [{ is: '<', size: 500 }] },
    ]);
    expect(whereText(where)).toBe('age:>90m age:<=2d priority:4,>=5 attempts:2 wait:<500ms');
  });

  it('takes free text, and texts between quotes for what they are', () => {
    expect(whereOf('broken -"a b" "state:failed" "say \\"no\\" \\\\"')).toEqual([
      { word: 'text', isNot: false, text: 'broken' },
      { word: 'text', isNot: true, text: 'a b' },
      { word: 'text', isNot: false, text: 'state:failed' },
      { word: 'text', isNot: false, text: 'say "no" \\' },
    ]);
    expect(whereOf('  ')).toEqual([]);
    expect(whereOf('user:a:b,-c')).toEqual([{ word: 'user', isNot: false, values: ['a:b', '-c'] }]);
  });

  it.each([
    [
      'state:faild',
      'one of scheduled, deferred, queued, started, finished, failed, canceled at character 7, got "faild"',
    ],
    [
      'user:acme stat:failed',
      '"state", or quotes around a text with a colon at character 11, got "stat"',
    ],
    [
      'http://x',
      'one of state, user, queue, name, run, error, id, priority, attempts, age, wait, or quotes',
    ],
    ['user:', 'the id of a user at character 6, got the end'],
    ['user:a,,b', 'the id of a user at character 8, got ","'],
    ['queue:a/b', 'the name of a queue at character 7, got "a/b"'],
    ['name:a@', 'a name, or name@version at character 6, got "a@"'],
    ['priority:7', 'a priority from 1 to 6, or its name at character 10, got "7"'],
    ['attempts:>x', 'a whole number at character 11, got "x"'],
    ['age:>10', 'a length of time, as 90s, 15m, 2h or 7d at character 6, got "10"'],
    ['age:>-1h', 'a length of time'],
    ['"open', 'a second quote'],
    ['user:"a"b', 'a space or comma after a quote at character 9, got "b"'],
    ['user:a"b"', 'quotes around the whole of a value at character 7'],
    ['a,b', 'quotes around a text with a colon or comma at character 1, got "a"'],
    ['12:30', 'quotes around a text with a colon or comma at character 1, got "12:30"'],
    ['- x', 'a word at character 2, got " "'],
    ['""', 'a word at character 1'],
    [7, 'where: expected a text, got 7'],
    ['x'.repeat(2_001), 'at most 2000 characters'],
  ])('refuses %s', (text, message) => {
    expect(refusal(text)).toContain(message);
  });
});
