/** How a user has fared of late, and how long it will still wait. */
import type { Backend, UserInfo } from '../../domain/port/backend.ts';
import type { Percentiles } from '../../domain/series/histogram.ts';
import { SeriesRow } from '../../domain/series/series-row.ts';
import { SERIES_STEPS } from '../../domain/series/series-steps.ts';

/** How one user fares in a queue. */
export interface UserHistory {
  /** The user. */
  readonly user: string;
  /** The queue. */
  readonly queue: string;
  /** Age of the first task in its line; absent when it has none there. */
  readonly oldestWaitMs?: number;
  /**
   * How long its tasks of the last hour waited for their first start; absent when none is known to have started,
   * also since others have had more traffic than it.
   */
  readonly wait?: Percentiles;
  /** How long their handlers ran; absent as `wait`. */
  readonly run?: Percentiles;
  /**
   * Starts a minute over the last 10 minutes, or since its first one in that time; 0 when none is known of, also
   * since others have had more traffic than it.
   */
  readonly perMinute: number;
  /**
   * At that rate, until the last of its tasks in line has started, in ms; absent when it has none there, is paused or
   * has no rate.
   */
  readonly etaMs?: number;
}

/** The rate is that of so many minutes. */
export const RATE_MINUTES = 10;

/** Asks for the series, the user and the head of its line at once. */
export async function historyOf(
  { series, users, inspect }: Backend,
  user: string,
  queue: string,
): Promise<UserHistory> {
  const [{ now, last, cells }, info, { items }] = await Promise.all([
    series.read({ step: 'minute', queue, user }),
    users.get(user, queue),
    inspect.list({ state: 'queued', queue, user }, { limit: 1 }),
  ]);
  const sum = new SeriesRow();
  for (const { row } of cells) sum.add(row);
  const [wait, run] = [sum.wait.percentiles(), sum.run.percentiles()];
  const recent = cells.filter(({ at }) => at > last - RATE_MINUTES);
  const perMinute = rateOf(recent, now);
  const etaMs = etaOf(info, perMinute);
  const [head] = items;
  return {
    user,
    queue,
    ...(head === undefined ? {} : { oldestWaitMs: Math.max(0, now - head.createdAt) }),
    ...(wait === undefined ? {} : { wait }),
    ...(run === undefined ? {} : { run }),
    perMinute,
    ...(etaMs === undefined ? {} : { etaMs }),
  };
}

/** Starts a minute since the first of these minutes began, counted as at least one minute. */
function rateOf(
  minutes: readonly { readonly at: number; readonly row: SeriesRow }[],
  now: number,
): number {
  const { ms } = SERIES_STEPS.minute;
  const [first] = minutes;
  if (first === undefined) return 0;
  const started = minutes.reduce((sum, { row }) => sum + row.counts.started, 0);
  return started / Math.max(1, (now - first.at * ms) / ms);
}

/** Until that many tasks of a user have started, in ms; `undefined` when it starts none. */
export function lengthAt(perMinute: number, tasks: number): number | undefined {
  return perMinute > 0 ? Math.round((tasks / perMinute) * SERIES_STEPS.minute.ms) : undefined;
}

function etaOf(info: UserInfo | undefined, perMinute: number): number | undefined {
  if (info === undefined || info.queued === 0 || info.settings.paused === true) return undefined;
  return lengthAt(perMinute, info.queued);
}
