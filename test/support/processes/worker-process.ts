/** `fairloom worker …` as a process of its own. */
import { spawn } from 'node:child_process';
import { BIN, type Ended } from './run-process.ts';

export interface WorkerProcess {
  /** Sends a signal. */
  signal(signal: NodeJS.Signals): void;
  /** Sends a signal and waits for the end. */
  end(signal: NodeJS.Signals): Promise<Ended>;
  /** Fulfilled once it has ended, for any reason. */
  readonly ended: Promise<Ended>;
  /** Fulfilled once that is on its stderr; rejects when it ends before. */
  says(text: string): Promise<void>;
}

/** Another place to start it from. */
export interface WorkerPlace {
  /** The command. Default: the one of this repository's build. */
  readonly bin?: string | undefined;
  readonly cwd?: string | undefined;
  /** Added to this process's own; an undefined one is taken out. */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
}

/** Started, and fulfilled once it says that it works. */
export async function startWorker(
  args: readonly string[],
  ready = 'working',
  { bin = BIN, cwd, env }: WorkerPlace = {},
): Promise<WorkerProcess> {
  const child = spawn(process.execPath, [bin, ...args], {
    cwd,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const killChild = (): unknown => child.kill('SIGKILL');
  process.once('exit', killChild);
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  const ended = new Promise<Ended>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => {
      process.off('exit', killChild);
      resolve({ code, stdout, stderr });
    });
  });
  const says = (text: string): Promise<void> =>
    new Promise((resolve, reject) => {
      const look = (): void => {
        if (!stderr.includes(text)) return;
        child.stderr.off('data', look);
        resolve();
      };
      child.stderr.on('data', look);
      look();
      ended.then(({ code }) => reject(new Error(`it ended with ${code}: ${stderr}`)), reject);
    });
  await says(ready);
  return {
    signal: (signal) => void child.kill(signal),
    says,
    ended,
    end: (signal) => {
      child.kill(signal);
      return ended;
    },
  };
}
