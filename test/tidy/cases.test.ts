/** The rows of the catalogues that concern this release each have a test on each backend. */
import { describe, expect, it } from 'vitest';
import { CASES, codedTitles, LEFT_OUT, missingCases, namedTests } from '../../scripts/cases.ts';

describe('npm run cases', () => {
  it('finds a test for every row in scope', () => {
    expect(CASES.length).toBeGreaterThan(140);
    expect(missingCases(namedTests())).toEqual([]);
  });

  it('knows every row that a test names, and gives the reason of those that it leaves out', () => {
    const ids = new Set(CASES.map(({ id }) => id));
    expect(ids.size).toBe(CASES.length);
    const isKnown = (id: string): boolean =>
      ids.has(id) || LEFT_OUT[id] !== undefined || id.startsWith('A-W');
    expect(namedTests().filter(({ id }) => !isKnown(id))).toEqual([]);
    expect(Object.keys(LEFT_OUT).filter((id) => ids.has(id))).toEqual([]);
  });

  // F123
  it('finds no title that begins with the code of a row', () => {
    expect(codedTitles()).toEqual([]);
  });
});
