/** Report of the series for callers. */
import { LIMITS } from '../../domain/limits.ts';
import type { SeriesCell, SeriesReply, SeriesRequest } from '../../domain/port/backend.ts';
import type { Percentiles } from '../../domain/series/histogram.ts';
import { isOthers, type SeriesCount, SeriesRow } from '../../domain/series/series-row.ts';
import { SERIES_STEPS, type SeriesStep } from '../../domain/series/series-steps.ts';

/** Counts over a time, and waits and runs in it. */
export interface SeriesSums extends Readonly<Record<SeriesCount, number>> {
  /** Durations from enqueue to the first start, delays included; absent without a start. */
  readonly wait?: Percentiles;
  /** Durations from the call of a handler until its attempt was settled; absent without one. */
  readonly run?: Percentiles;
}

/** One minute or hour. */
export interface SeriesPoint extends SeriesSums {
  /** Its start, in ms since the epoch on the backend's clock. */
  readonly at: number;
}

/** Sums of one user in a queue. */
export interface SeriesUser extends SeriesSums {
  /** Id of the user. */
  readonly user: string;
  /** Name of the queue. */
  readonly queue: string;
}

/** Counts by minute or hour. */
export interface SeriesReport {
  /** Length of the points. */
  readonly step: SeriesStep;
  /** Start of the first point. */
  readonly from: number;
  /** End of the last point; in the future if that is the current one. */
  readonly to: number;
  /** One point per step, including empty ones. */
  readonly points: readonly SeriesPoint[];
  /** Users with the most traffic, the largest first; absent if the call names a user. */
  readonly users?: readonly SeriesUser[];
  /** Sums of all other users; absent without any, or if the call names a user. */
  readonly others?: SeriesSums;
}

/** Builds the report of a request. */
export function reportOf({ step, user }: SeriesRequest, reply: SeriesReply): SeriesReport {
  const { ms } = SERIES_STEPS[step];
  const { first, last, cells } = reply;
  const steps = new Map<number, SeriesRow>();
  for (const { at, row, user: whose } of cells) if (whose === user) sumIn(steps, at, row);
  const points: SeriesPoint[] = [];
  for (let at = first; at <= last; at++) {
    points.push({ at: at * ms, ...sumsOf(steps.get(at) ?? new SeriesRow()) });
  }
  const report = { step, from: first * ms, to: Math.max(first, last + 1) * ms, points };
  return user === undefined ? { ...report, ...usersOf(cells) } : report;
}

/** Rows of users over all steps: those with their own row, and the rest. */
function usersOf(cells: readonly SeriesCell[]): Pick<SeriesReport, 'users' | 'others'> {
  const rows = new Map<string, { readonly user: string; readonly queue: string; row: SeriesRow }>();
  const rest = new SeriesRow();
  let hasRest = false;
  for (const { queue, user, row } of cells) {
    if (user === undefined) continue;
    if (isOthers({ queue, user })) {
      rest.add(row);
      hasRest = true;
      continue;
    }
    const key = `${queue}:${user}`;
    const known = rows.get(key) ?? { queue, user, row: new SeriesRow() };
    known.row.add(row);
    rows.set(key, known);
  }
  const traffic = ({ row }: { readonly row: SeriesRow }): number =>
    row.counts.enqueued + row.counts.started;
  const sorted = [...rows.values()].sort((one, other) => traffic(other) - traffic(one));
  for (const { row } of sorted.slice(LIMITS.seriesTopUsers)) {
    rest.add(row);
    hasRest = true;
  }
  const shown = sorted.slice(0, LIMITS.seriesTopUsers);
  const users = shown.map(({ user, queue, row }) => ({ user, queue, ...sumsOf(row) }));
  return hasRest ? { users, others: sumsOf(rest) } : { users };
}

function sumIn<K>(rows: Map<K, SeriesRow>, key: K, row: SeriesRow): void {
  const known = rows.get(key) ?? new SeriesRow();
  known.add(row);
  rows.set(key, known);
}

function sumsOf({ counts, wait, run }: SeriesRow): SeriesSums {
  const [waited, ran] = [wait.percentiles(), run.percentiles()];
  return {
    ...counts,
    ...(waited === undefined ? {} : { wait: waited }),
    ...(ran === undefined ? {} : { run: ran }),
  };
}
