/** A project of a reader: the code blocks of one page as files, beside the built package. */
import { type ChildProcess, type ChildProcessByStdio, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { newestCompiler } from '../processes/compilers.ts';
import { type Ended, ROOT, runProcess } from '../processes/run-process.ts';
import type { DocBlock } from './doc-blocks.ts';

/** A process whose stdout is read. */
export type Told = ChildProcessByStdio<null, Readable, null>;

export interface DocProject {
  /** Compiles every TypeScript file, strictly; the compiler's complaints. */
  compile(): Promise<string>;
  /** Runs one of the files to its end. */
  run(file: string, env?: Readonly<Record<string, string>>): Promise<Ended>;
  /** Starts one of the files that goes on until it gets a signal. */
  start(file: string, env: Readonly<Record<string, string>>): ChildProcess;
  /** The same, with a stdout that is to be read. */
  startTold(file: string, env: Readonly<Record<string, string>>): Told;
  /** Adds a file that no page shows. */
  write(file: string, text: string): void;
  /** What runs from now on has no packages. */
  removePackages(): void;
  remove(): void;
}

const TSX = join(ROOT, 'node_modules/tsx/dist/loader.mjs');
/** The fastest; what the others say of types, the layer of that name holds. */
const TSC = newestCompiler();

/** What readers install beside the package. */
const BESIDE = [
  '@hono',
  '@nestjs',
  '@opentelemetry',
  '@types',
  'esbuild',
  'express',
  'fastify',
  'hono',
  'ioredis',
  'prom-client',
  'reflect-metadata',
  'rxjs',
  'vitest',
];

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
  // NestJS.
  experimentalDecorators: true,
};

export function docProject(blocks: readonly DocBlock[]): DocProject {
  const folder = mkdtempSync(join(tmpdir(), 'fairloom-docs-'));
  const write = (name: string, text: string): void => writeFileSync(join(folder, name), text);
  mkdirSync(join(folder, 'node_modules'));
  symlinkSync(ROOT, join(folder, 'node_modules/fairloom'));
  for (const name of BESIDE) {
    symlinkSync(join(ROOT, 'node_modules', name), join(folder, 'node_modules', name));
  }
  write('package.json', JSON.stringify({ name: 'reader', private: true, type: 'module' }));
  write(
    'tsconfig.json',
    JSON.stringify({ compilerOptions: COMPILER_OPTIONS, include: ['*.ts', '*.mjs'] }),
  );
  for (const { file, text } of blocks) if (file !== undefined) write(file, text);
  const args = (file: string): readonly string[] => ['--import', TSX, join(folder, file)];
  const settings = (env: Readonly<Record<string, string>>) => ({
    cwd: folder,
    env: { ...process.env, ...env },
  });
  return {
    async compile() {
      const { stdout, stderr } = await runProcess(process.execPath, [TSC, '-p', folder], {
        timeoutMs: 200_000,
      });
      return `${stdout}${stderr}`.replaceAll(folder, '');
    },
    run: (file, env = {}) => runProcess(process.execPath, args(file), { cwd: folder, env }),
    start: (file, env) =>
      spawn(process.execPath, args(file), { ...settings(env), stdio: 'ignore' }),
    startTold: (file, env) =>
      spawn(process.execPath, args(file), {
        ...settings(env),
        stdio: ['ignore', 'pipe', 'ignore'],
      }),
    write,
    removePackages: () => rmSync(join(folder, 'node_modules'), { recursive: true }),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}
