/** The part of the port that counts by minute and hour. */
import type { SeriesEntry, SeriesPlace } from '../series/series-row.ts';
import type { SeriesStep, StepRange } from '../series/series-steps.ts';

export type { SeriesEntry } from '../series/series-row.ts';

/**
 * What happened in each minute of a day and each hour of a month, by queue and by user. Bounded: the first
 * `LIMITS.seriesQueues` queues of a step have rows of their own, and the `LIMITS.seriesUsers` users with the
 * most traffic; what others have counted is in one row more, for users in one of their queue.
 */
export interface SeriesStore {
  /**
   * Adds to the current minute and hour what a process has counted since its last call. A queue's own
   * counts, where it has any, replace those of the process, so they are exact with any number of
   * processes. A row of a queue comes before those of its users.
   */
  add(entries: readonly SeriesEntry[]): Promise<void>;
  /** What is kept of the steps between two moments, the oldest step first. */
  read(request: SeriesRequest): Promise<SeriesReply>;
}

/** Which rows to read. */
export interface SeriesRequest {
  /** Minutes or hours. */
  readonly step: SeriesStep;
  /** The first moment; absent: as many steps as are shown, up to the last. */
  readonly from?: number;
  /** The end, which is not part of it; absent: now. */
  readonly to?: number;
  /** Of this queue alone. */
  readonly queue?: string;
  /** Of this user alone. */
  readonly user?: string;
}

/** What is kept of them. */
export interface SeriesReply extends StepRange {
  /** What the backend's clock showed. */
  readonly now: number;
  /** Rows of the same step stand together. */
  readonly cells: readonly SeriesCell[];
}

/** One row of one step. */
export interface SeriesCell extends SeriesEntry {
  /** The step, counted from the epoch. */
  readonly at: number;
}

/** Whether a request is about a row. */
export function isAsked({ queue, user }: SeriesRequest, place: SeriesPlace): boolean {
  if (queue !== undefined && place.queue !== queue) return false;
  return user === undefined || place.user === user;
}
