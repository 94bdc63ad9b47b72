/** Mutants that no longer fit would be counted as killed by nobody. */
import luaparse from 'luaparse';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';
import { ALL_MUTANTS } from '../mutants/all.ts';
import { SURVIVORS } from '../mutants/survivors.ts';
import { read } from '../support/files.ts';

function isLua(text: string): boolean {
  try {
    luaparse.parse(text, { luaVersion: '5.1' });
    return true;
  } catch {
    return false;
  }
}

function isTypeScript(text: string): boolean {
  const parsed = ts.createSourceFile('mutant.ts', text, ts.ScriptTarget.Latest);
  // Not of the public type, but of every version: a program would read all files for each mutant.
  const { parseDiagnostics = [] } = parsed as { readonly parseDiagnostics?: readonly unknown[] };
  return parseDiagnostics.length === 0;
}

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

  it('break what can be read still: whatever cannot is noticed by everything', () => {
    const unreadable = ALL_MUTANTS.filter(({ file, find, replace }) => {
      const text = read(file).split(find).join(replace);
      return file.endsWith('.lua') ? !isLua(text) : !isTypeScript(text);
    });
    expect(unreadable.map(({ name }) => name)).toEqual([]);
  });

  it('are seen to be unreadable where they are', () => {
    expect([isTypeScript('const a = 1;'), isTypeScript('const a = ;')]).toEqual([true, false]);
  });

  it('that live are mutants still', () => {
    const names = new Set(ALL_MUTANTS.map(({ name }) => name));
    expect(Object.keys(SURVIVORS).filter((name) => !names.has(name))).toEqual([]);
  });
});
