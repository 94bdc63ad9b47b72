import { spawn } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import type { Clock } from '../base/time.ts';
import type { TaskContext } from '../workflow/task-context.ts';
import type { Ending } from './program.ts';

/** How long an engine may take to end or remove a container, in ms; one that hangs is left alone. */
const ENGINE_MS = 10_000;

/** A name that no other attempt has, also not one of another worker that took the task over. */
export function containerName({ taskId, attempt }: TaskContext): string {
  const hash = createHash('sha256').update(taskId).digest('hex').slice(0, 12);
  return `fairloom-${hash}-${attempt}-${randomBytes(4).toString('hex')}`;
}

/**
 * The command line of an engine is not the container: that is another process's child, and goes on
 * without it. So it is ended by its name. While its image is being fetched there is no container,
 * but a command line that would make one: then that is ended.
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

  /** Whether the engine did it. Goes on when this process ends: the container must not stay. */
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
