/** Minutes and hours of the series, and how long they are kept. */
import { LIMITS } from '../limits.ts';

/** Lengths of the rows of a series. */
export type SeriesStep = 'minute' | 'hour';

/** Settings of one length. */
export interface StepFacts {
  /** First character of the names of its rows. */
  readonly letter: string;
  /** Length of a step, in ms. */
  readonly ms: number;
  /** Number of kept steps, including the current one. */
  readonly kept: number;
  /** Number of steps shown when the call names no start. */
  readonly shown: number;
}

/** Length of a minute, in ms. */
const MINUTE_MS = 60_000;

/** Length of an hour, in ms. */
const HOUR_MS = 3_600_000;

/** Settings of each length. */
export const SERIES_STEPS: Readonly<Record<SeriesStep, StepFacts>> = {
  minute: {
    letter: 'm',
    ms: MINUTE_MS,
    kept: LIMITS.seriesMinutesMs / MINUTE_MS,
    shown: LIMITS.seriesMinutesShown,
  },
  hour: {
    letter: 'h',
    ms: HOUR_MS,
    kept: LIMITS.seriesHoursMs / HOUR_MS,
    shown: LIMITS.seriesHoursShown,
  },
};

/** First and last step, both included, counted from the epoch. */
export interface StepRange {
  /** First step. */
  readonly first: number;
  /** Last step; before the first for an empty range. */
  readonly last: number;
}

/** Kept steps between two moments; without `from` the newest before `to`. */
export function stepsBetween(
  { ms, kept, shown }: StepFacts,
  now: number,
  { from, to }: { readonly from?: number; readonly to?: number },
): StepRange {
  const newest = Math.floor(now / ms);
  const last = to === undefined ? newest : Math.min(newest, Math.ceil(to / ms) - 1);
  const first = from === undefined ? last - shown + 1 : Math.floor(from / ms);
  return { first: Math.max(newest - kept + 1, first), last };
}
