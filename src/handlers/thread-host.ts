import { Worker as Thread } from 'node:worker_threads';
import type { HostRequest } from './host-messages.ts';
import { threadProgram } from './host-programs.generated.ts';
import { type HostListener, type ModuleHost, notify } from './module-host.ts';
import { hostOptions } from './node-options.ts';

/** A thread of this process. */
export class ThreadHost implements ModuleHost {
  readonly #thread = openThread();
  #listener: HostListener | undefined;
  #isGone = false;
  #onGone: (() => void) | undefined;

  constructor() {
    const gone = (cause: unknown): void => this.#gone(cause);
    // The caller keeps this process alive; an idle or hanging thread must not.
    this.#thread.unref();
    this.#thread.on('message', (message) => notify(this.#listener, message));
    this.#thread.on('error', gone).on('messageerror', (error) => {
      gone(error);
      void this.kill();
    });
    this.#thread.on('exit', (code) => gone(`exit code ${code}`));
  }

  run(request: HostRequest, listener: HostListener): void {
    this.#thread.postMessage(request);
    this.#listener = listener;
  }

  release(): void {
    this.#listener = undefined;
  }

  /** A thread can be terminated at any moment, even while it runs code. */
  end(): Promise<void> {
    return this.kill();
  }

  async kill(): Promise<void> {
    await this.#thread.terminate();
  }

  whenGone(then: () => void): void {
    this.#onGone = then;
  }

  #gone(cause: unknown): void {
    if (this.#isGone) return;
    this.#isGone = true;
    this.#onGone?.();
    this.#listener?.gone(cause);
  }
}

/** Without options for the main program of this process, as far as Node allows that for threads. */
function openThread(): Thread {
  const execArgv = hostOptions(process.execArgv);
  if (execArgv.length < process.execArgv.length) {
    try {
      return new Thread(threadProgram, { eval: true, execArgv: [...execArgv] });
    } catch (error) {
      // Some options apply to the whole process, and can only be inherited.
      if (Reflect.get(Object(error), 'code') !== 'ERR_WORKER_INVALID_EXEC_ARGV') throw error;
    }
  }
  return new Thread(threadProgram, { eval: true });
}
