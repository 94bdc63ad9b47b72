/** A mutant that no longer fits would break nothing, and would be counted as noticed. */
import luaparse from 'luaparse';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';
import { ALL_LAWS, ALL_MUTANTS } from '../mutants/all.ts';
import { mutantsOf } from '../mutants/make.ts';
import type { Mutant } from '../mutants/mutants.ts';
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

/** Names of those that change nothing, or after which their file cannot be read: every test would notice that. */
function useless(mutants: readonly Mutant[], text: (file: string) => string): readonly string[] {
  return mutants
    .filter(({ file, changed }) => {
      const after = changed(text(file));
      return after === text(file) || !(file.endsWith('.lua') ? isLua(after) : isTypeScript(after));
    })
    .map(({ name }) => name);
}

describe('laws', () => {
  it('are broken where each is written, once in its file', () => {
    const misfits = ALL_LAWS.map(({ law, file, find }) => ({
      law,
      found: read(file).split(find).length - 1,
    })).filter(({ found }) => found !== 1);
    expect(misfits).toEqual([]);
    expect(useless(ALL_MUTANTS, read)).toEqual([]);
  });

  it('are sentences, each broken once in a file, and few enough to be read', () => {
    expect(ALL_LAWS.filter(({ law }) => !/^[A-Z`].*\.$/.test(law))).toEqual([]);
    expect(new Set(ALL_MUTANTS.map(({ name }) => name)).size).toBe(ALL_MUTANTS.length);
    expect(ALL_MUTANTS.length).toBeGreaterThanOrEqual(100);
    expect(ALL_MUTANTS.length).toBeLessThanOrEqual(150);
  });
});

describe('mutants that are made', () => {
  const made = (file: string, text: string): readonly string[] =>
    mutantsOf(file, text).map(({ changed }) => changed(text));

  it.each(['src/domain/fairness/fair-share.ts', 'src/backends/redis/lua/lib/turns/choose.lua'])(
    'of %s can all be read, and each changes something',
    (file) => {
      const mutants = mutantsOf(file, read(file));
      expect(mutants.length).toBeGreaterThan(10);
      expect(useless(mutants, read)).toEqual([]);
    },
  );

  it('of TypeScript turn operators and conditions, add one, and leave statements out', () => {
    expect(made('a.ts', 'if (a < 1) f();')).toEqual([
      'if (!(a < 1)) f();',
      'if (a <= 1) f();',
      'if (a < (1 + 1)) f();',
      'if (a < 1) ;',
    ]);
    expect(made('a.ts', "const b: 1 | 2 = c ? d + 'x' : e;")).toEqual([
      "const b: 1 | 2 = !(c) ? d + 'x' : e;",
    ]);
  });

  it('of Lua do the same', () => {
    expect(made('a.lua', 'if (a) < 1 then f() end')).toEqual([
      'if not ((a) < 1) then f() end',
      'if (a) <= 1 then f() end',
      'if (a) < (1 + 1) then f() end',
      'if (a) < 1 then do end end',
    ]);
  });

  it('are seen to be unreadable where they are', () => {
    expect([isTypeScript('const a = 1;'), isTypeScript('const a = ;')]).toEqual([true, false]);
    expect([isLua('return 1'), isLua('return return')]).toEqual([true, false]);
  });
});
