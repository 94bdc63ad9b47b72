import { onAbort } from '../../../base/abort-watch.ts';
import { LIMITS } from '../../../domain/limits.ts';
import type { StreamLease, StreamStore } from '../../../domain/port/streams.ts';
import type { StreamEntry, StreamFacts, StreamWrite } from '../../../domain/task/stream.ts';
import type { Store } from '../store/store.ts';
import { StoredStream } from '../store/stored-stream.ts';
import { attendedTask } from './attended.ts';

type Step = <T>(act: () => T) => Promise<T>;

/** See `StreamStore`. */
export function streamStore(store: Store, step: Step, look: Step): StreamStore {
  const of = (id: string): ReadonlyMap<string, StoredStream> =>
    store.records.get(id)?.optional.streams ?? NONE;
  return {
    append: (lease, write) => step(() => append(store, lease, write)),
    read: (id, name, from, limit) =>
      look(() => {
        const entries = of(id).get(name)?.entries ?? [];
        const at = firstBehind(entries, from);
        return entries.slice(at, at + limit);
      }),
    waitForChunks: ({ id, name, from }, ms, signal) => {
      const isThere = (): boolean => (of(id).get(name)?.next ?? 0) > from;
      if (signal.aborted || store.closed || isThere()) return Promise.resolve();
      return new Promise((resolve) => {
        const stop = (): void => {
          timer.cancel();
          unwatch();
          const waiters = store.streamWaiters.get(id);
          waiters?.delete(notify);
          if (waiters?.size === 0) store.streamWaiters.delete(id);
          resolve();
        };
        const notify = (): void => {
          if (store.closed || isThere()) stop();
        };
        const timer = store.clock.setTimer(ms, stop);
        const unwatch = onAbort([signal], stop);
        const waiters = store.streamWaiters.get(id) ?? new Set();
        store.streamWaiters.set(id, waiters.add(notify));
      });
    },
    list: (id) =>
      look(() => {
        const found = [...of(id)].map(([name, stream]): StreamFacts => {
          const { first, next, bytes, closed } = stream;
          return { name, first, next, bytes, closed };
        });
        return found.sort((a, b) => (a.name < b.name ? -1 : 1));
      }),
  };
}

const NONE: ReadonlyMap<string, StoredStream> = new Map();

function append(
  store: Store,
  { id, token }: StreamLease,
  write: StreamWrite,
): 'ok' | 'lost' | 'closed' | 'full' {
  const entry = attendedTask(store, { id, token });
  if (entry === undefined) return 'lost';
  const known = entry.optional.streams;
  if (known?.has(write.name) !== true && (known?.size ?? 0) >= LIMITS.streams) return 'full';
  const own = entry.own();
  own.streams ??= new Map();
  const stream = own.streams.get(write.name) ?? new StoredStream();
  own.streams.set(write.name, stream);
  const answer = stream.write(write);
  for (const notify of [...(store.streamWaiters.get(id) ?? [])]) notify();
  return answer;
}

/** Index of the first entry that ends after this offset. */
function firstBehind(entries: readonly StreamEntry[], from: number): number {
  let [low, high] = [0, entries.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((entries[middle]?.next ?? 0) > from) high = middle;
    else low = middle + 1;
  }
  return low;
}
