/** Limits of the series; part of `limits.ts`. */
import { type Limit, limit } from './limit.ts';

/** Names of these limits. */
export type SeriesLimitName =
  | 'seriesMinutesMs'
  | 'seriesHoursMs'
  | 'seriesMinutesShown'
  | 'seriesHoursShown'
  | 'seriesQueues'
  | 'seriesUsers'
  | 'seriesGathered'
  | 'seriesFlushMs'
  | 'seriesTopUsers'
  | 'seriesTake'
  | 'seriesTakeMs'
  | 'seriesPending';

/** As `LIMIT_TABLE`, which takes them in. */
export const SERIES_LIMITS: Readonly<Record<SeriesLimitName, Limit>> = {
  seriesMinutesMs: limit(86_400_000, 'ms', 'series are kept by the minute for a day'),
  seriesHoursMs: limit(2_678_400_000, 'ms', 'and by the hour for 31 days'),
  seriesMinutesShown: limit(60, 'minutes', 'of a series, shown by default'),
  seriesHoursShown: limit(24, 'hours', 'of a series, shown by default'),
  seriesQueues: limit(100, 'queues', 'of a minute or hour with their own row'),
  seriesUsers: limit(
    20,
    'users',
    'of a minute or hour with their own row, those with the most traffic',
  ),
  seriesGathered: limit(
    1_000,
    'users',
    'that a process counts separately before it sends its counts',
  ),
  seriesFlushMs: limit(
    10_000,
    'ms',
    'a process sends its counts this long after the first, and no more often',
  ),
  seriesTake: limit(64, 'calls', 'that have added to the series and are merged together'),
  seriesTakeMs: limit(60_000, 'ms', 'they are merged when the oldest is this old'),
  seriesPending: limit(
    500,
    'calls',
    'that wait for a merge; if no process merges them, the oldest are removed',
  ),
  seriesTopUsers: limit(100, 'users', 'of a report, those with the most traffic in it'),
};
