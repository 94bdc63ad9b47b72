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

const NOTHING: SeriesTotals = {
  enqueued: 0,
  finished: 0,
  failed: 0,
  canceled: 0,
  retried: 0,
  lost: 0,
};

/**
 * Puts into the row of a queue what it has counted since `before`, in place of what one process has.
 * A queue that nobody has looked at yet, and of which all tasks are still stored, has counted all of it
 * of late. Of any other it is not known since when, so the row stays as it is; so does that of one that
 * nobody has looked at for longer than series are kept.
 */
export function putGrowth(
  row: SeriesRow,
  before: Looked | undefined,
  { at, totals }: Looked,
  stored: number,
): void {
  const isYoung = before === undefined && stored >= totals.enqueued;
  const isLate = before !== undefined && at - before.at > LIMITS.seriesHoursMs;
  if ((before === undefined && !isYoung) || isLate) return;
  const since = before?.totals ?? NOTHING;
  for (const what of keysIn(NOTHING)) row.counts[what] = Math.max(0, totals[what] - since[what]);
}
