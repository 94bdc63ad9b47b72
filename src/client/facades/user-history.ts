/** Recent waits and runs of a user, and the estimated time until its line is empty. */
import type { Backend, UserInfo } from '../../domain/port/backend.ts';
import type { Percentiles } from '../../domain/series/histogram.ts';
import { SeriesRow } from '../../domain/series/series-row.ts';
import { SERIES_STEPS } from '../../domain/series/series-steps.ts';

/** Recent figures of one user in a queue. */
export interface UserHistory {
  /** Id of the user. */
  readonly user: string;
  /** Name of the queue. */
  readonly queue: string;
  /** Age of the first task in its line; absent without one. */
  readonly oldestWaitMs?: number;
  /**
   * Waits of its tasks of the last hour for their first start; absent if no start is known, as when
   * other users had more traffic.
   */
  readonly wait?: Percentiles;
  /** Durations of their handlers; absent as `wait`. */
  readonly run?: Percentiles;
  /**
   * Starts per minute over the last 10 minutes, or since its first start in that time; 0 if no
   * start is known, as when other users had more traffic.
   */
  readonly perMinute: number;
  /**
   * Time until the last of its tasks in line starts, at that rate, in ms; absent if it has none
   * there, is paused or has no rate.
   */
  readonly etaMs?: number;
}

/** Minutes over which the rate is averaged. */
export const RATE_MINUTES = 10;

/** Reads the series, the user and the head of its line in parallel. */
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

/** Starts per minute since the first of these minutes began, counted as at least one minute. */
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

/** Time until this many tasks of a user have started, in ms; `undefined` at a rate of 0. */
export function lengthAt(perMinute: number, tasks: number): number | undefined {
  return perMinute > 0 ? Math.round((tasks / perMinute) * SERIES_STEPS.minute.ms) : undefined;
}

function etaOf(info: UserInfo | undefined, perMinute: number): number | undefined {
  if (info === undefined || info.queued === 0 || info.settings.paused === true) return undefined;
  return lengthAt(perMinute, info.queued);
}
