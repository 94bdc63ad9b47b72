/** Runs a command of node_modules/.bin or the PATH, and keeps what it prints. */
import { spawn } from 'node:child_process';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The root of the repository, with a slash at its end. */
export const ROOT: string = fileURLToPath(new URL('..', import.meta.url));

export interface Ran {
  /** 0 is success; a command that cannot be started, or dies of a signal, has 1. */
  readonly code: number;
  /** stdout and stderr, as they came. */
  readonly output: string;
  readonly ms: number;
}

export function run([command = '', ...args]: readonly string[]): Promise<Ran> {
  const started = performance.now();
  const path = `${join(ROOT, 'node_modules/.bin')}${delimiter}${process.env['PATH'] ?? ''}`;
  const child = spawn(command, args, {
    cwd: ROOT,
    env: { ...process.env, PATH: path, NO_COLOR: '1' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  const keep = (chunk: Buffer): void => {
    output += chunk.toString();
  };
  child.stdout.on('data', keep);
  child.stderr.on('data', keep);
  return new Promise((resolve) => {
    const end = (code: number): void => {
      resolve({ code, output, ms: performance.now() - started });
    };
    child.once('error', (error) => {
      output += error.message;
      end(1);
    });
    child.once('close', (code) => end(code ?? 1));
  });
}
