/** What a queue has counted since it was looked at last. */
import { keysIn } from '../../base/records.ts';
import { LIMITS } from '../limits.ts';
import type { SeriesCount, SeriesRow } from './series-row.ts';

/** What a queue counts by itself, ever since it began. */
export type SeriesTotals = Readonly<Record<Exclude<SeriesCount, 'started'>, number>>;

/** What a queue had counted, and when. */
export interface Looked {
  /** When, in ms since the epoch. */
  readonly at: number;
  /** How much. */
  readonly totals: SeriesTotals;
}

/** What a queue has counted when it begins. */
export const NOTHING_COUNTED: SeriesTotals = {
  enqueued: 0,
  finished: 0,
  failed: 0,
  canceled: 0,
  retried: 0,
  lost: 0,
};

/**
 * Puts into the row of a queue what it has counted since `before`, in place of what one process has.
 * A queue counts as looked at when it begins. Of one that no look is known of, the data of a version
 * without series, the row stays as it is; so does that of one that was not looked at for longer than
 * series are kept.
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
