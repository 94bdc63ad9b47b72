/** Counts by minute and hour; part of the port in `backend.ts`. */
import type { SeriesEntry, SeriesPlace } from '../series/series-row.ts';
import type { SeriesStep, StepRange } from '../series/series-steps.ts';

export type { SeriesEntry } from '../series/series-row.ts';

/**
 * Counts for each minute of a day and each hour of a month, by queue and by user. Bounded: the first
 * `LIMITS.seriesQueues` queues of a step have rows of their own, and the `LIMITS.seriesUsers` users with the most
 * traffic; all others share one more row, users one per queue.
 */
export interface SeriesStore {
  /**
   * Adds the counts of a process since its last call to the current minute and hour. Counts that the store keeps of
   * a queue replace those of the process, so they are exact with any number of processes. A row of a queue comes
   * before those of its users.
   */
  add(entries: readonly SeriesEntry[]): Promise<void>;
  /** Kept rows of the steps between two moments, the oldest step first. */
  read(request: SeriesRequest): Promise<SeriesReply>;
}

/** Which rows to read. */
export interface SeriesRequest {
  /** Minutes or hours. */
  readonly step: SeriesStep;
  /** Begin; absent: as many steps as are kept. */
  readonly from?: number;
  /** End, exclusive; absent: now. */
  readonly to?: number;
  /** Only this queue. */
  readonly queue?: string;
  /** Only this user. */
  readonly user?: string;
}

/** Kept rows. */
export interface SeriesReply extends StepRange {
  /** The moment of this step by the backend's clock. */
  readonly now: number;
  /** Rows, grouped by step. */
  readonly cells: readonly SeriesCell[];
}

/** One row of one step. */
export interface SeriesCell extends SeriesEntry {
  /** The step, counted from the epoch. */
  readonly at: number;
}

/** Whether a request selects a row. */
export function isAsked({ queue, user }: SeriesRequest, place: SeriesPlace): boolean {
  if (queue !== undefined && place.queue !== queue) return false;
  return user === undefined || place.user === user;
}
