/** Somebody to be told when a signal aborts. */
export interface AbortWatcher {
  aborted(reason: unknown): void;
}

/**
 * Who watches which signal. An `AbortSignal` takes a microsecond for each listener that comes and
 * goes, and a walk has one for each of its nodes; so each signal gets one listener for all.
 */
const WATCHERS = new WeakMap<AbortSignal, Set<AbortWatcher>>();

/** From now on the watcher is told; one that comes after the signal has aborted never is. */
export function watchAbort(signal: AbortSignal, watcher: AbortWatcher): void {
  const known = WATCHERS.get(signal);
  if (known !== undefined) {
    known.add(watcher);
    return;
  }
  const watchers = new Set([watcher]);
  WATCHERS.set(signal, watchers);
  const tell = (): void => {
    for (const one of [...watchers]) one.aborted(signal.reason);
  };
  signal.addEventListener('abort', tell, { once: true });
}

export function unwatchAbort(signal: AbortSignal, watcher: AbortWatcher): void {
  WATCHERS.get(signal)?.delete(watcher);
}
