import { onAbort } from './abort-watch.ts';
import { setImmediate } from './globals.ts';
import type { Clock } from './time.ts';

interface Watcher {
  readonly holds: () => boolean;
  readonly resolve: (holds: boolean) => void;
}

/** Waits for a condition; each change is announced, so no caller polls. */
export class Condition {
  /** Usually empty: then a check costs a comparison. */
  readonly #watchers = new Set<Watcher>();
  #scheduled = false;

  /** Announces a change. Evaluates the conditions at the end of this tick, after all changes. */
  check(): void {
    if (this.#watchers.size === 0 || this.#scheduled) return;
    this.#scheduled = true;
    setImmediate(this.#look);
  }

  /** Resolves with true once the condition holds, with false if the signal aborts before. */
  until(holds: () => boolean, signal: AbortSignal): Promise<boolean> {
    return new Promise((resolve) => {
      const stop = (answer: boolean): void => {
        this.#watchers.delete(watcher);
        unwatch?.();
        resolve(answer);
      };
      const end = (): void => stop(holds());
      let unwatch: (() => void) | undefined;
      const watcher: Watcher = { holds, resolve: stop };
      this.#watchers.add(watcher);
      if (signal.aborted) {
        end();
        return;
      }
      unwatch = onAbort([signal], end);
      this.check();
    });
  }

  /** The same, with false after `ms` on the clock. */
  async within(
    clock: Clock,
    ms: number,
    holds: () => boolean,
    signal: AbortSignal,
  ): Promise<boolean> {
    if (holds()) return true;
    if (signal.aborted) return false;
    const stop = new AbortController();
    const end = (): void => stop.abort();
    const unwatch = onAbort([signal], end);
    const timer = clock.setTimer(ms, end);
    try {
      return await this.until(holds, stop.signal);
    } finally {
      timer.cancel();
      unwatch();
    }
  }

  readonly #look = (): void => {
    this.#scheduled = false;
    for (const watcher of [...this.#watchers]) if (watcher.holds()) watcher.resolve(true);
  };
}
