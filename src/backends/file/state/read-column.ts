/** Columns of a state, as `columnOf` writes them. */
import { BadStateError } from './bad-state.ts';
import { COLUMN, type Fields, KNOWN_TEXTS } from './format.ts';
import type { ValueReader } from './read-value.ts';

/** One field of a class. */
export interface Column {
  readonly field: string;
  /** What a blank has there. */
  readonly usual: unknown;
  /** Texts, or data, that may come again. */
  readonly known: unknown[];
}

/** Of a class that the file begins with. */
export function newColumn(field: string, blank: Fields): Column {
  return { field, usual: blank[field], known: [] };
}

/** Puts the values of a column where they belong. */
export function columnInto(
  values: ValueReader,
  column: Column,
  cells: unknown,
  rows: readonly Fields[],
): void {
  if (!Array.isArray(cells)) throw new BadStateError('a column is not there');
  const list: readonly unknown[] = cells;
  if (list[0] === COLUMN.same) {
    same(column, values.value(list[1]), rows);
    return;
  }
  if (list.length !== rows.length + 1) throw new BadStateError('a column has other rows');
  const { field } = column;
  switch (list[0]) {
    case COLUMN.numbers: {
      let number = 0;
      rows.forEach((row, at) => {
        number += Number(list[at + 1]);
        row[field] = number;
      });
      return;
    }
    case COLUMN.instances:
      rows.forEach((row, at) => {
        row[field] = values.met(list[at + 1]);
      });
      return;
    case COLUMN.texts:
    case COLUMN.data:
      rows.forEach((row, at) => {
        row[field] = knownIn(column.known, list[at + 1]);
      });
      return;
    case COLUMN.values:
      rows.forEach((row, at) => {
        row[field] = values.value(list[at + 1]);
      });
      return;
    default:
      throw new BadStateError('a column is of no kind');
  }
}

/** Most fields of most instances have what a blank has. */
function same({ field, usual }: Column, value: unknown, rows: readonly Fields[]): void {
  if (Object.is(value, usual)) return;
  for (const row of rows) row[field] = value;
}

function knownIn(known: unknown[], cell: unknown): unknown {
  if (cell === null) return undefined;
  if (typeof cell === 'number') {
    if (cell < known.length) return known[cell];
    throw new BadStateError('a text is not there');
  }
  if (known.length < KNOWN_TEXTS) known.push(cell);
  return cell;
}
