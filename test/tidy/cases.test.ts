/** The rows of the bug catalogue that concern this release each have a test on each backend. */
import { describe, expect, it } from 'vitest';
import { CASES, missingCases, namedTests } from '../../scripts/cases.ts';

describe('npm run cases', () => {
  it('finds a test for every row in scope', () => {
    expect(CASES.length).toBeGreaterThan(60);
    expect(missingCases(namedTests())).toEqual([]);
  });
});
