/** A project of a reader: the code blocks of one page as files, beside the built package. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DocBlock } from './doc-blocks.ts';
import { type Ended, ROOT, runProcess } from './run-process.ts';

export interface DocProject {
  /** Compiles every TypeScript file, strictly; the compiler's complaints. */
  compile(): Promise<string>;
  /** Runs one of the files to its end. */
  run(file: string, env?: Readonly<Record<string, string>>): Promise<Ended>;
  /** Starts one of the files that goes on until it gets a signal. */
  start(file: string, env: Readonly<Record<string, string>>): ChildProcess;
  remove(): void;
}

const TSX = join(ROOT, 'node_modules/tsx/dist/loader.mjs');
const TSC = join(ROOT, 'node_modules/typescript/bin/tsc');

/** What a careful reader's compiler is set to. */
const COMPILER_OPTIONS = {
  target: 'ES2023',
  module: 'NodeNext',
  types: ['node'],
  strict: true,
  exactOptionalPropertyTypes: true,
  noUncheckedIndexedAccess: true,
  noUnusedLocals: true,
  noUnusedParameters: true,
  // The packed package is compiled without this elsewhere.
  skipLibCheck: true,
  noEmit: true,
  // Read, not checked: a page may have no other code.
  allowJs: true,
};

export function docProject(blocks: readonly DocBlock[]): DocProject {
  const folder = mkdtempSync(join(tmpdir(), 'fairloom-docs-'));
  const write = (name: string, text: string): void => writeFileSync(join(folder, name), text);
  mkdirSync(join(folder, 'node_modules'));
  symlinkSync(ROOT, join(folder, 'node_modules/fairloom'));
  for (const name of ['@opentelemetry', '@types', 'prom-client', 'vitest']) {
    symlinkSync(join(ROOT, 'node_modules', name), join(folder, 'node_modules', name));
  }
  write('package.json', JSON.stringify({ name: 'reader', private: true, type: 'module' }));
  write(
    'tsconfig.json',
    JSON.stringify({ compilerOptions: COMPILER_OPTIONS, include: ['*.ts', '*.mjs'] }),
  );
  for (const { file, text } of blocks) if (file !== undefined) write(file, text);
  const args = (file: string): readonly string[] => ['--import', TSX, join(folder, file)];
  return {
    async compile() {
      const { stdout, stderr } = await runProcess(process.execPath, [TSC, '-p', folder], {
        timeoutMs: 200_000,
      });
      return `${stdout}${stderr}`.replaceAll(folder, '');
    },
    run: (file, env = {}) => runProcess(process.execPath, args(file), { cwd: folder, env }),
    start: (file, env) =>
      spawn(process.execPath, args(file), {
        cwd: folder,
        env: { ...process.env, ...env },
        stdio: 'ignore',
      }),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}
