/** The minutes and hours that are kept. */
import { LIMITS } from '../limits.ts';

/** The lengths of time that are counted apart. */
export type SeriesStep = 'minute' | 'hour';

/** One of them. */
export interface StepFacts {
  /** Begins the names of its steps. */
  readonly letter: string;
  /** How long a step is, in ms. */
  readonly ms: number;
  /** How many steps are kept, the one that goes on included. */
  readonly kept: number;
  /** How many are shown when the call names no start. */
  readonly shown: number;
}

/** How long a minute is, in ms. */
const MINUTE_MS = 60_000;

/** How long an hour is, in ms. */
const HOUR_MS = 3_600_000;

/** What holds for each. */
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

/** From which step to which, both included, counted from the epoch. */
export interface StepRange {
  /** The first one. */
  readonly first: number;
  /** The last one; before the first when there are none. */
  readonly last: number;
}

/** The steps between two moments, as far as they are kept; without `from` the newest before `to`. */
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
