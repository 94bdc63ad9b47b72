/** A program on a pseudo terminal, which `script` makes. */
import { spawn } from 'node:child_process';
import { stripVTControlCharacters } from 'node:util';

export interface Terminal {
  press(keys: string): void;
  /** Fulfilled once what was shown since the last key matches; rejects when it ends before. */
  shows(pattern: RegExp): Promise<void>;
  /** Everything that was written, with its control characters. */
  readonly ended: Promise<{ readonly code: number | null; readonly raw: string }>;
}

export interface TerminalOptions {
  readonly cwd?: string | undefined;
  /** Added to this process's own; an undefined one is taken out. */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
}

/** Starts a program on a terminal without colors. */
export function onTerminal(words: readonly string[], options: TerminalOptions = {}): Terminal {
  const command = words.map((word) => `'${word}'`).join(' ');
  const child = spawn('script', ['-qec', command, '/dev/null'], {
    cwd: options.cwd,
    env: { ...process.env, TERM: 'xterm', NO_COLOR: '1', ...options.env },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const killChild = (): unknown => child.kill('SIGKILL');
  process.once('exit', killChild);
  let raw = '';
  /** What was shown since the last key. */
  let fresh = '';
  let changed: () => void = () => undefined;
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    raw += text;
    fresh += stripVTControlCharacters(text);
    changed();
  });
  const ended = new Promise<{ code: number | null; raw: string }>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => {
      process.off('exit', killChild);
      resolve({ code, raw });
    });
  });
  return {
    press(keys) {
      fresh = '';
      child.stdin.write(keys);
    },
    shows: (pattern) =>
      new Promise((resolve, reject) => {
        changed = () => {
          if (pattern.test(fresh)) resolve();
        };
        changed();
        ended.then(({ code }) => reject(new Error(`it ended with ${code}: ${fresh}`)), reject);
      }),
    ended,
  };
}
