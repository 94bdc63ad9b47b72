/** Runs a command of node_modules/.bin or the PATH, and keeps its output. */
import { spawn } from 'node:child_process';
import { delimiter, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

/** The root of the repository, with a slash at its end. */
export const ROOT: string = fileURLToPath(new URL('..', import.meta.url));

export interface Ran {
  /** 0 is success; a command that cannot be started, or dies of a signal, has 1. */
  readonly code: number;
  /** stdout and stderr, in order. */
  readonly output: string;
  readonly ms: number;
}

/** `read` gets each complete line of stdout and stderr at once. */
export function run(
  [command = '', ...args]: readonly string[],
  read?: (line: string) => void,
): Promise<Ran> {
  const started = performance.now();
  const path = `${join(ROOT, 'node_modules/.bin')}${delimiter}${process.env['PATH'] ?? ''}`;
  const child = spawn(command, args, {
    cwd: ROOT,
    env: { ...process.env, PATH: path, NO_COLOR: '1' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (chunk: string) => {
      output += chunk;
    });
    if (read !== undefined) createInterface({ input: stream }).on('line', read);
  }
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
