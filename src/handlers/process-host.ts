import type { ChildProcess } from 'node:child_process';
import { thrownOf } from '../base/thrown.ts';
import type { Clock, Timer } from '../base/time.ts';
import { LIMITS } from '../domain/limits.ts';
import { signalGroup, spawnChild } from './children.ts';
import type { HostAbort, HostRequest, HostWatching } from './host-messages.ts';
import { processProgram } from './host-programs.generated.ts';
import { type HostListener, type ModuleHost, notify } from './module-host.ts';
import { hostOptions } from './node-options.ts';

/** Arguments that pass the program. Deno cannot import modules in a program after `-e`. */
const PROGRAM: readonly string[] =
  process.versions['deno'] === undefined
    ? ['-e', processProgram]
    : [`data:text/javascript,${encodeURIComponent(processProgram)}`];

/** A child process. It inherits stdout and stderr of this process. */
export class ProcessHost implements ModuleHost {
  readonly #clock: Clock;
  readonly #child: ChildProcess;
  readonly #gone: Promise<void>;
  #listener: HostListener | undefined;
  /** The handler has read its signal, and may end by itself. */
  #isWatching = false;
  #timer: Timer | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
    const args = [...hostOptions(process.execArgv), ...PROGRAM, String(process.pid)];
    // As in threads, inputs and results may be more than JSON if the codec supports it.
    this.#child = spawnChild(process.execPath, args, {
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
      serialization: 'advanced',
    });
    this.#child.on('message', (message) => {
      if (isWatching(message)) this.#isWatching = true;
      else notify(this.#listener, message);
    });
    this.#gone = new Promise((resolve) => {
      const gone = (cause: unknown): void => {
        this.#timer?.cancel();
        resolve();
        const listener = this.#listener;
        this.#listener = undefined;
        listener?.gone(cause);
      };
      this.#child.on('exit', (code, signal) => gone(signal ?? `exit code ${code}`));
      this.#child.on('error', (error) => {
        // A message that could not be sent causes an error too; the exit reports that case.
        if (this.#child.pid === undefined) gone(error);
      });
    });
    if (this.#child.pid === undefined) return;
    // The caller keeps this process alive; an idle or hanging child must not.
    this.#child.unref();
    // Bun does not have this method, and does not need it.
    this.#child.channel?.unref?.();
  }

  run(request: HostRequest, listener: HostListener): void {
    this.#isWatching = false;
    // The error event reports a process that could not be started.
    if (this.#child.pid !== undefined) this.#child.send(request);
    this.#listener = listener;
  }

  release(): void {
    this.#listener = undefined;
  }

  end(reason: unknown): Promise<void> {
    if (!this.#isWatching || !this.#child.connected) return this.kill();
    this.#child.send({ kind: 'abort', reason: thrownOf(reason) } satisfies HostAbort);
    this.#timer ??= this.#clock.setTimer(LIMITS.killGraceMs, () => void this.kill());
    return this.#gone;
  }

  kill(): Promise<void> {
    // The caller awaits its exit, so it must keep this process alive.
    this.#child.ref();
    signalGroup(this.#child, 'SIGKILL');
    return this.#gone;
  }

  whenGone(then: () => void): void {
    void this.#gone.then(then);
  }
}

function isWatching(message: unknown): message is HostWatching {
  return (
    typeof message === 'object' && message !== null && Reflect.get(message, 'kind') === 'watching'
  );
}
