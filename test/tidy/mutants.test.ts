/** Mutants that no longer fit would be counted as killed by nobody. */
import { describe, expect, it } from 'vitest';
import { ALL_MUTANTS } from '../mutants/all.ts';
import { SURVIVORS } from '../mutants/survivors.ts';
import { read } from '../support/files.ts';

describe('mutants', () => {
  it('fit exactly once, so that each changes what it says', () => {
    const misfits = ALL_MUTANTS.map(({ name, file, find }) => ({
      name,
      found: read(file).split(find).length - 1,
    })).filter(({ found }) => found !== 1);
    expect(misfits).toEqual([]);
  });

  it('change something, and have names of their own', () => {
    expect(ALL_MUTANTS.filter(({ find, replace }) => find === replace)).toEqual([]);
    expect(new Set(ALL_MUTANTS.map(({ name }) => name)).size).toBe(ALL_MUTANTS.length);
    expect(ALL_MUTANTS.length).toBeGreaterThanOrEqual(40);
  });

  it('that live are mutants still', () => {
    const names = new Set(ALL_MUTANTS.map(({ name }) => name));
    expect(Object.keys(SURVIVORS).filter((name) => !names.has(name))).toEqual([]);
  });
});
