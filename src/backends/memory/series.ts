import type { SeriesEntry, SeriesStore } from '../../domain/port/backend.ts';
import { putGrowth } from '../../domain/series/growth.ts';
import type { Store } from './store/store.ts';

type Step = <T>(act: () => T) => Promise<T>;

/** See `SeriesStore`. */
export function seriesStore(store: Store, step: Step, look: Step): SeriesStore {
  return {
    add: (entries) =>
      step(() =>
        store.series.add(
          store.now,
          entries.map((entry) => counted(store, entry)),
        ),
      ),
    read: (request) => look(() => store.series.read(store.now, request)),
  };
}

/** The row of a queue has the queue's own totals. */
function counted(store: Store, entry: SeriesEntry): SeriesEntry {
  const queue = entry.user === undefined ? store.queues.get(entry.queue) : undefined;
  if (queue === undefined) return entry;
  const row = entry.row.copy();
  const { looked } = store.series;
  const before = looked.get(entry.queue);
  const now = { at: store.now, totals: { ...queue.totals } };
  putGrowth(row, before, now);
  looked.set(entry.queue, now);
  return { ...entry, row };
}
