/** Runs a program to its end, for tests of what is shipped. */
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/** The repository. */
export const ROOT = fileURLToPath(new URL('../../../', import.meta.url));

/** The command line as it is shipped; built before these tests run. */
export const BIN = fileURLToPath(new URL('../../../dist/cli/main.js', import.meta.url));

/** What a program left behind. */
export interface Ended {
  /** Null when a signal ended it. */
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunOptions {
  readonly cwd?: string | undefined;
  /** Added to this process's own; an undefined one is taken out. */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
  readonly stdin?: string | undefined;
  /** Killed after this long, in ms. Default: 9 minutes, after which it hangs. */
  readonly timeoutMs?: number | undefined;
}

/** Starts a program and waits for its end. */
export function runProcess(
  file: string,
  args: readonly string[],
  options: RunOptions = {},
): Promise<Ended> {
  return new Promise((resolve, reject) => {
    const child = spawn(file, args, {
      cwd: options.cwd,
      env: { ...process.env, ...options.env },
      stdio: 'pipe',
      timeout: options.timeoutMs ?? 540_000,
      killSignal: 'SIGKILL',
    });
    let stdout = '';
    let stderr = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      stdout += text;
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      stderr += text;
    });
    child.once('error', reject);
    child.once('close', (code) => resolve({ code, stdout, stderr }));
    child.stdin.on('error', () => undefined).end(options.stdin ?? '');
  });
}

/** `fairloom …` by the built binary; colors and a backend only when the test asks for them. */
export function fairloom(args: readonly string[], options: RunOptions = {}): Promise<Ended> {
  const env = { FAIRLOOM_REDIS_URL: undefined, NO_COLOR: undefined, ...options.env };
  return runProcess(process.execPath, [BIN, ...args], { ...options, env });
}
