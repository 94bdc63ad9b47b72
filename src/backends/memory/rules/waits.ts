import { onAbort } from '../../../base/abort-watch.ts';
import type { TaskStatus } from '../../../domain/task/task.ts';
import type { TaskEntry } from '../store/entities.ts';
import type { Store } from '../store/store.ts';
import { toStatus } from '../store/task-record.ts';

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
): Promise<TaskStatus | undefined> {
  const entry = store.records.get(id);
  if (entry === undefined || signal.aborted || store.closed) return Promise.resolve(undefined);
  if (entry.endedAt !== undefined) return Promise.resolve(toStatus(entry));
  return new Promise((resolve) => {
    const stop = (ended?: TaskEntry): void => {
      timer.cancel();
      unwatch();
      const waiters = store.endWaiters.get(id);
      waiters?.delete(stop);
      if (waiters?.size === 0) store.endWaiters.delete(id);
      resolve(ended === undefined ? undefined : toStatus(ended));
    };
    const giveUp = (): void => stop();
    const timer = store.clock.setTimer(ms, giveUp);
    const unwatch = onAbort([signal], giveUp);
    const waiters = store.endWaiters.get(id) ?? new Set();
    waiters.add(stop);
    store.endWaiters.set(id, waiters);
  });
}
