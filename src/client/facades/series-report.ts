/** What is shown of the series. */
import { LIMITS } from '../../domain/limits.ts';
import type { SeriesCell, SeriesReply, SeriesRequest } from '../../domain/port/backend.ts';
import type { Percentiles } from '../../domain/series/histogram.ts';
import { isOthers, type SeriesCount, SeriesRow } from '../../domain/series/series-row.ts';
import { SERIES_STEPS, type SeriesStep } from '../../domain/series/series-steps.ts';

/** Counts of a length of time, and how long tasks waited and ran in it. */
export interface SeriesSums extends Readonly<Record<SeriesCount, number>> {
  /** From enqueue to the first start, delays included; absent when none of these started. */
  readonly wait?: Percentiles;
  /** From the call of a handler until its attempt was settled; absent when none was. */
  readonly run?: Percentiles;
}

/** One minute or hour. */
export interface SeriesPoint extends SeriesSums {
  /** When it began, in ms since the epoch on the backend's clock. */
  readonly at: number;
}

/** What one user came to in a queue. */
export interface SeriesUser extends SeriesSums {
  /** The user. */
  readonly user: string;
  /** The queue. */
  readonly queue: string;
}

/** What happened by minute or hour. */
export interface SeriesReport {
  /** Minutes or hours. */
  readonly step: SeriesStep;
  /** When the first point began. */
  readonly from: number;
  /** When the last point ends; later than now while that goes on. */
  readonly to: number;
  /** One for each step, also for those in which nothing happened. */
  readonly points: readonly SeriesPoint[];
  /** Those with the most traffic, first; absent when one user was asked for. */
  readonly users?: readonly SeriesUser[];
  /** What all other users came to; absent when there were none, or one user was asked for. */
  readonly others?: SeriesSums;
}

/** Of what was read, by what was asked for. */
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

/** Rows of users over all steps: those that have one, and the rest. */
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
