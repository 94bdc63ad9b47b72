/** Names with versions: put together, taken apart, ordered; and keys that are scoped by them. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { checkTaskName, isName } from '../../src/domain/fairness/names.ts';
import {
  codeNeeded,
  compareVersions,
  hasVersion,
  isNamed,
  nameIn,
  namePartsIn,
  ownNameFor,
  scopedKey,
  shownKey,
  versionedName,
  versionsOf,
} from '../../src/domain/task/task-name.ts';

const aName = fc.stringMatching(/^[A-Za-z0-9][A-Za-z0-9._-]{0,9}$/);

describe('a stored name', () => {
  it('is taken apart into what it was put together of', () => {
    fc.assert(
      fc.property(aName, fc.option(aName, { nil: undefined }), (name, version) => {
        const stored = versionedName(name, version);
        expect(namePartsIn(stored)).toEqual(version === undefined ? { name } : { name, version });
        expect([nameIn(stored), hasVersion(stored)]).toEqual([name, version !== undefined]);
        expect(checkTaskName('name', stored)).toBe(stored);
        expect(isName(stored)).toBe(version === undefined);
        expect(isNamed(stored, name)).toBe(true);
        expect(isNamed(`${name}x`, name)).toBe(false);
        expect(codeNeeded(ownNameFor('~drive', stored))).toEqual(namePartsIn(stored));
        expect(namePartsIn(ownNameFor('~drive', stored))).toEqual({ name: '~drive' });
      }),
    );
    expect(ownNameFor('~drive', undefined)).toBe('~drive');
    expect(codeNeeded('~drive')).toEqual({ name: '~drive' });
  });

  it.each([
    '',
    '@',
    'a@',
    '@1',
    'a@1@2',
    'a b',
    'a@1 ',
    `${'x'.repeat(65)}@1`,
    `a@${'1'.repeat(65)}`,
    7,
  ])('is not %j', (value) => {
    expect(() => checkTaskName('name', value)).toThrow(/name@version/);
  });
});

describe('the order of versions', () => {
  it.each([
    ['1', '2'],
    ['2', '10'],
    ['1.9', '1.10'],
    ['1.9', '1.9.0'],
    ['v2', 'v10'],
    ['2026-01-31', '2026-02-01'],
    ['a', 'b'],
    ['1', 'a'],
    ['01', '1'],
  ])('%s is before %s', (older, newer) => {
    expect(compareVersions(older, newer)).toBeLessThan(0);
    expect(compareVersions(newer, older)).toBeGreaterThan(0);
  });

  it('is an order', () => {
    const aVersion = fc.stringMatching(/^[0-9a.]{1,4}$/);
    fc.assert(
      fc.property(aVersion, aVersion, aVersion, (a, b, c) => {
        expect(Math.sign(compareVersions(a, b))).toBe(-Math.sign(compareVersions(b, a)) + 0);
        expect(compareVersions(a, b) === 0).toBe(a === b);
        if (compareVersions(a, b) <= 0 && compareVersions(b, c) <= 0) {
          expect(compareVersions(a, c)).toBeLessThanOrEqual(0);
        }
      }),
    );
  });

  it('lists what workers have, the newest first and each once', () => {
    const names = ['x', 'x@9', 'x@10', 'x@9', 'xy@11', '~drive@x@12'];
    expect(versionsOf(names, 'x')).toEqual(['10', '9']);
    expect(versionsOf(names, 'y')).toEqual([]);
  });
});

it('a scoped key is shown as its caller gave it', () => {
  fc.assert(
    fc.property(aName, aName, fc.string({ minLength: 1 }), (name, version, key) => {
      const stored = scopedKey(versionedName(name, version), key);
      expect(shownKey(stored)).toBe(key);
      expect(stored).not.toBe(scopedKey(versionedName(name, `${version}x`), key));
    }),
  );
  expect(shownKey('order:7')).toBe('order:7');
});
