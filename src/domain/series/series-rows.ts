/** Which queues and users have their own row in a minute or hour. */
import { compareUtf8 } from '../../base/utf8-order.ts';
import { LIMITS } from '../limits.ts';
import {
  fieldOf,
  isOthers,
  placeOf,
  type SeriesEntry,
  type SeriesPlace,
  type SeriesRow,
} from './series-row.ts';

/** Rows of one step, by name. */
export type SeriesRows = Map<string, SeriesRow>;

/**
 * Gives queues and users without a row one while there is room. Beyond that a queue is counted
 * among the others; a user takes the row of the user with the least rank and continues from that
 * rank, so that users with much traffic get a row and keep it.
 */
export function putRow(rows: SeriesRows, entry: SeriesEntry): void {
  const row = entry.row.copy();
  const place = placeFor(rows, entry, row);
  const known = rows.get(place);
  if (known === undefined) rows.set(place, row);
  else known.add(row);
}

function placeFor(rows: SeriesRows, { queue, user }: SeriesPlace, row: SeriesRow): string {
  const field = fieldOf(user === undefined ? { queue } : { queue, user });
  if (rows.has(field)) return field;
  if (user === undefined) {
    const isFull = ownRows(rows, 'q').length >= LIMITS.seriesQueues;
    return isFull ? fieldOf({ queue: '' }) : field;
  }
  if (!rows.has(fieldOf({ queue }))) return fieldOf({ queue: '', user: '' });
  if (user === '') return field;
  const users = ownRows(rows, 'u');
  if (users.length >= LIMITS.seriesUsers) row.rank += evictLeast(rows, users);
  return field;
}

/** Adds the row of the least user to the others of its queue; answers its rank. */
function evictLeast(rows: SeriesRows, users: readonly string[]): number {
  const rankOf = (field: string): number => rows.get(field)?.rank ?? 0;
  const [least = ''] = [...users].sort((a, b) => rankOf(a) - rankOf(b) || compareUtf8(a, b));
  const row = rows.get(least);
  if (row === undefined) return 0;
  rows.delete(least);
  const others = fieldOf({ queue: placeOf(least)?.queue ?? '', user: '' });
  const known = rows.get(others);
  const { rank } = row;
  if (known === undefined) rows.set(others, row);
  else known.add(row);
  return rank;
}

function ownRows(rows: SeriesRows, kind: 'q' | 'u'): readonly string[] {
  return [...rows.keys()].filter((field) => {
    const place = field.startsWith(kind) ? placeOf(field) : undefined;
    return place !== undefined && !isOthers(place);
  });
}
