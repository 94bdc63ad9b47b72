import { spawn } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import type { Clock } from '../base/time.ts';
import type { TaskContext } from '../workflow/task-context.ts';
import type { Ending } from './program.ts';

/** Longest time for an engine to end or remove a container, in ms; then it is abandoned. */
const ENGINE_MS = 10_000;

/** A name that no other attempt has, not even one of another worker that took over the task. */
export function containerName({ taskId, attempt }: TaskContext): string {
  const hash = createHash('sha256').update(taskId).digest('hex').slice(0, 12);
  return `fairloom-${hash}-${attempt}-${randomBytes(4).toString('hex')}`;
}

/**
 * Ends a container by its name: it is a child of the engine, not of its command line, and would
 * continue without that. While its image is being pulled there is no container yet; then the
 * command line is ended.
 */
export class ContainerEnding implements Ending {
  readonly #clock: Clock;
  readonly #engine: string;
  readonly #name: string;

  constructor(clock: Clock, engine: string, name: string) {
    this.#clock = clock;
    this.#engine = engine;
    this.#name = name;
  }

  ask(endChild: () => void): void {
    void this.#docker(['kill', '--signal', 'TERM', this.#name]).then((isDone) => {
      if (!isDone) endChild();
    });
  }

  async clean(): Promise<void> {
    await this.#docker(['rm', '--force', this.#name]);
  }

  /** Whether the engine succeeded. The call outlives this process: no container must stay. */
  #docker(args: readonly string[]): Promise<boolean> {
    return new Promise<boolean>((resolve) => {
      const child = spawn(this.#engine, args, {
        shell: false,
        detached: true,
        stdio: 'ignore',
        windowsHide: true,
      });
      const end = (isDone: boolean): void => {
        timer.cancel();
        child.unref();
        resolve(isDone);
      };
      const timer = this.#clock.setTimer(ENGINE_MS, () => end(false));
      child.on('error', () => end(false));
      child.on('exit', (code) => end(code === 0));
    }).catch(() => false);
  }
}
