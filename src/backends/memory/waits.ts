import { onAbort } from '../../base/abort-watch.ts';
import type { Store } from './store.ts';

/** See `WorkerStore.waitForWork`. */
export function waitForWork(
  store: Store,
  id: string,
  ms: number,
  signal: AbortSignal,
): Promise<'woken' | 'timeout'> {
  const worker = store.workers.get(id);
  if (worker?.token === true) {
    worker.token = false;
    return Promise.resolve('woken');
  }
  if (worker === undefined || signal.aborted || store.closed) return Promise.resolve('timeout');
  return new Promise((resolve) => {
    const stop = (answer: 'woken' | 'timeout'): void => {
      timer.cancel();
      unwatch();
      worker.wake = undefined;
      worker.token = false;
      store.line.delete(worker);
      resolve(answer);
    };
    const abort = (): void => stop('timeout');
    const timer = store.clock.setTimer(ms, abort);
    const unwatch = onAbort([signal], abort);
    worker.wake = (): void => stop('woken');
  });
}

/** See `Inspect.waitForEnd`. */
export function waitForEnd(
  store: Store,
  id: string,
  ms: number,
  signal: AbortSignal,
): Promise<void> {
  const entry = store.records.get(id);
  const over = entry === undefined || entry.endedAt !== undefined;
  if (over || signal.aborted || store.closed) return Promise.resolve();
  return new Promise((resolve) => {
    const stop = (): void => {
      timer.cancel();
      unwatch();
      const waiters = store.endWaiters.get(id);
      waiters?.delete(stop);
      if (waiters?.size === 0) store.endWaiters.delete(id);
      resolve();
    };
    const timer = store.clock.setTimer(ms, stop);
    const unwatch = onAbort([signal], stop);
    const waiters = store.endWaiters.get(id) ?? new Set();
    waiters.add(stop);
    store.endWaiters.set(id, waiters);
  });
}
