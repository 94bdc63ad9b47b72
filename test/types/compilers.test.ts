/**
 * What each version of the compiler says. This file runs; its sisters are compiled only, by vitest with
 * our version, and here with every version.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { COMPILERS, type Compiler } from '../support/processes/compilers.ts';
import { ROOT, runProcess } from '../support/processes/run-process.ts';
import { EXCESS, MISTAKES, type Mistake, SETUP } from './mistakes.ts';

/** One message of a compiler. */
interface Complaint {
  readonly file: string;
  readonly line: number;
  readonly column: number;
  /** Its first line. */
  readonly says: string;
  /** All of its lines. */
  readonly text: string;
}

const ALL = [...MISTAKES, ...EXCESS];

/** The line of the first mistake, from 1. */
const FIRST_LINE = SETUP.split('\n').length;

/** What each version says of the mistakes, and of the tests beside this file. */
const complaints = new Map<string, readonly Complaint[]>();

beforeAll(async () => {
  mkdirSync(join(ROOT, 'temp'), { recursive: true });
  const folder = mkdtempSync(join(ROOT, 'temp/mistakes-'));
  const lines = ALL.map(({ code }) => code.replace(/[«»]/g, ''));
  writeFileSync(join(folder, 'mistakes.ts'), `${SETUP}${lines.join('\n')}\n`);
  const include = ['mistakes.ts', '../../test/types'];
  const tsconfig = { extends: '../../tsconfig.json', include, exclude: [] };
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(tsconfig));
  const ask = async (compiler: Compiler): Promise<void> => {
    complaints.set(compiler.version, await complaintsOf(compiler, folder));
  };
  await Promise.all(COMPILERS.map(ask));
  rmSync(folder, { recursive: true });
});

describe.each(COMPILERS)('TypeScript $version', ({ version, tsc }) => {
  it('is that version', async () => {
    const { stdout } = await runProcess(process.execPath, [tsc, '--version']);
    expect(stdout).toContain(`Version ${version}`);
  });

  // F27
  it('finds in the tests beside this file what they expect, and nothing else', () => {
    const others = complaints.get(version)?.filter(({ file }) => !file.endsWith('mistakes.ts'));
    expect(others).toEqual([]);
  });

  // F27
  it('finds no mistake where none is', () => {
    const [first, last] = [FIRST_LINE, FIRST_LINE + ALL.length - 1];
    const elsewhere = complaints.get(version)?.filter(({ line }) => line < first || line > last);
    expect(elsewhere).toEqual([]);
  });
});

// F27
describe('a mistake is reported at its place, which is named', () => {
  it.each(MISTAKES)('$title', (mistake) => expectReport(mistake));
});

// F28
describe('a property too many is reported', () => {
  it.each(EXCESS)('$title', (mistake) => expectReport(mistake));
});

/** It is the only message about its line, at the place that is wrong, in the words expected. */
function expectReport(mistake: Mistake): void {
  const { code, says, says7 = says, names = '' } = mistake;
  const line = FIRST_LINE + ALL.indexOf(mistake);
  const column = code.indexOf('«') + 1;
  for (const { version } of COMPILERS) {
    const own = complaints
      .get(version)
      ?.filter((one) => one.line === line && one.file.endsWith('mistakes.ts'));
    const said = own?.map((one) => ({ column: one.column, says: one.says }));
    expect({ version, said }).toEqual({
      version,
      said: [{ column, says: version === '7.0' ? says7 : says }],
    });
    expect(own?.[0]?.text).toContain(names);
  }
}

async function complaintsOf({ tsc }: Compiler, folder: string): Promise<readonly Complaint[]> {
  const { stdout } = await runProcess(
    process.execPath,
    [tsc, '-p', folder, '--pretty', 'false'],
    {},
  );
  const messages = stdout.matchAll(/^(\S[^\n]*?)\((\d+),(\d+)\): error (TS\d+: .*)$(?:\n .*$)*/gm);
  return [...messages].map(([text, file = '', line, column, says = '']) => ({
    file,
    line: Number(line),
    column: Number(column),
    says,
    text,
  }));
}
