import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { InvalidOptionError } from '../../src/domain/errors/errors.ts';
import { checkName, checkTaskId, isId, isName } from '../../src/domain/fairness/names.ts';

describe('ids', () => {
  it('are any text of 1 to 128 bytes that has a UTF-8 form, and is no step of a path', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 200 }), (text) => {
        const bytes = Buffer.byteLength(text);
        const hasForm = Buffer.from(text).toString() === text;
        const isStep = text === '.' || text === '..';
        expect(isId(text)).toBe(bytes >= 1 && bytes <= 128 && hasForm && !isStep);
      }),
    );
    expect(isId('\ud83d')).toBe(false);
    for (const text of ['.', '..']) expect(isId(text)).toBe(false);
    expect(isId('é'.repeat(64))).toBe(true);
    expect(isId('é'.repeat(65))).toBe(false);
  });

  it('of tasks do not begin with what Fairloom makes', () => {
    expect(() => checkTaskId('id', '~s.x')).toThrow(InvalidOptionError);
    expect(checkTaskId('id', 'a~')).toBe('a~');
  });
});

describe('names', () => {
  it.each(['a', '0', 'a.b-c_d', 'A'.repeat(64)])('%s is one', (name) => {
    expect(isName(name)).toBe(true);
  });

  it.each(['', '.a', '-a', 'a b', 'a:b', 'é', 'A'.repeat(65), 7, null, 'a\n'])(
    '%j is none',
    (name) => {
      expect(isName(name)).toBe(false);
      expect(() => checkName('queue', name)).toThrow(InvalidOptionError);
    },
  );
});
