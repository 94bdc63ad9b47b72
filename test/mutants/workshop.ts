/** A copy of the repository in which a mutant can be tried out, with the packages of this one. */
import { spawn } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Mutant } from './mutants.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const COPIED = [
  'src',
  'test',
  'scripts',
  'docs',
  'package.json',
  'tsconfig.json',
  'vitest.config.ts',
];

export interface Attempt {
  /** 0: the tests pass, so the mutant lives. */
  readonly code: number;
  readonly timedOut: boolean;
  readonly output: string;
}

export class Workshop {
  readonly #root = mkdtempSync(join(tmpdir(), 'fairloom-mutants-'));
  readonly #env: Readonly<Record<string, string>>;

  constructor(env: Readonly<Record<string, string>>) {
    this.#env = env;
    for (const name of COPIED) {
      if (existsSync(join(ROOT, name)))
        cpSync(join(ROOT, name), join(this.#root, name), { recursive: true });
    }
    symlinkSync(join(ROOT, 'node_modules'), join(this.#root, 'node_modules'));
  }

  /** Puts the mutant in; the answer takes it out again. Throws when it does not fit. */
  apply({ file, changed }: Mutant): () => void {
    const path = join(this.#root, file);
    const text = readFileSync(path, 'utf8');
    writeFileSync(path, changed(text));
    return () => writeFileSync(path, text);
  }

  /** Runs a command of node_modules/.bin here, for at most so long. */
  run(command: readonly string[], timeoutMs: number): Promise<Attempt> {
    const [program = '', ...args] = command;
    const path = `${join(this.#root, 'node_modules/.bin')}${delimiter}${process.env['PATH'] ?? ''}`;
    const child = spawn(program, args, {
      cwd: this.#root,
      env: { ...process.env, ...this.#env, PATH: path, NO_COLOR: '1' },
      stdio: ['ignore', 'pipe', 'pipe'],
      // A group of its own, so that what it starts ends with it.
      detached: true,
    });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (chunk: Buffer) => {
        output = (output + chunk.toString()).slice(-4_000);
      });
    }
    return new Promise((resolve) => {
      let timedOut = false;
      const timer = setTimeout(() => {
        timedOut = true;
        if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
      }, timeoutMs);
      child.once('close', (code) => {
        clearTimeout(timer);
        resolve({ code: code ?? 1, timedOut, output });
      });
    });
  }

  close(): void {
    rmSync(this.#root, { recursive: true, force: true });
  }
}
