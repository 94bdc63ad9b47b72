/** What a queue has counted since the last read. */
import { keysIn } from '../../base/records.ts';
import { LIMITS } from '../limits.ts';
import type { SeriesCount, SeriesRow } from './series-row.ts';

/** Totals of a queue since it exists. */
export type SeriesTotals = Readonly<Record<Exclude<SeriesCount, 'started'>, number>>;

/** Totals of a queue at one moment. */
export interface Looked {
  /** Moment of the read, in ms since the epoch. */
  readonly at: number;
  /** Totals at that moment. */
  readonly totals: SeriesTotals;
}

/** Totals of a new queue. */
export const NOTHING_COUNTED: SeriesTotals = {
  enqueued: 0,
  finished: 0,
  failed: 0,
  canceled: 0,
  retried: 0,
  lost: 0,
};

/**
 * Replaces a queue's row by its growth since `before`, in place of the counts of one process. A new
 * queue counts as read at its creation. The row stays unchanged if no earlier read is known (data
 * of a version without series), or if the last read is older than the kept series.
 */
export function putGrowth(
  row: SeriesRow,
  before: Looked | undefined,
  { at, totals }: Looked,
): void {
  if (before === undefined || at - before.at > LIMITS.seriesHoursMs) return;
  const since = before.totals;
  for (const what of keysIn(NOTHING_COUNTED))
    row.counts[what] = Math.max(0, totals[what] - since[what]);
}
