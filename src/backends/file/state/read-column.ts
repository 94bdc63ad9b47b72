/** Columns of rows, as `columnOf` writes them. */
import { BadStateError } from './bad-state.ts';
import { COLUMN, type Fields, KNOWN_TEXTS } from './format.ts';

/** One field of a kind of rows. */
export interface Column {
  readonly field: string;
  /** Texts, or data, that may come again. */
  readonly known: unknown[];
}

/** A row for {@link rowsOfColumns}. An object of JSON is quick to read, one that gets many fields by name is not. */
export function blankRow(fields: readonly string[]): Fields {
  return JSON.parse(JSON.stringify(Object.fromEntries(fields.map((field) => [field, null]))));
}

/**
 * The rows of a block, of so many: one object, in which only what is not the same in all of them changes from row to row.
 * A row of its own for each would be a million objects for a million tasks.
 */
export function* rowsOfColumns(
  row: Fields,
  columns: readonly Column[],
  [count, ...cells]: readonly unknown[],
): Generator<Readonly<Fields>, void, undefined> {
  const changing: Changing[] = [];
  for (const [nth, { field, known }] of columns.entries()) {
    const list = cells[nth];
    if (!Array.isArray(list)) throw new BadStateError('a column is not there');
    row[field] = list[0] === COLUMN.same ? valueIn(list[1]) : undefined;
    if (list[0] === COLUMN.same) continue;
    if (list.length !== Number(count) + 1) throw new BadStateError('a column has other rows');
    changing.push({ field, list, read: readerOf(list[0], known) });
  }
  for (let at = 1; at <= Number(count); at++) {
    for (const { field, list, read } of changing) row[field] = read(list[at]);
    yield row;
  }
}

interface Changing {
  readonly field: string;
  readonly list: readonly unknown[];
  read(cell: unknown): unknown;
}

function readerOf(kind: unknown, known: unknown[]): (cell: unknown) => unknown {
  switch (kind) {
    case COLUMN.numbers: {
      let number = 0;
      return (step) => {
        number += Number(step);
        return number;
      };
    }
    case COLUMN.texts:
    case COLUMN.data:
      return (cell) => knownIn(known, cell);
    case COLUMN.values:
      return valueIn;
    default:
      throw new BadStateError('a column is of no kind');
  }
}

function valueIn(cell: unknown): unknown {
  if (!Array.isArray(cell)) return cell ?? undefined;
  return cell.length === 1 ? cell[0] : Number(cell[1]);
}

/** What a cell of texts or of data says. */
export function knownIn(known: unknown[], cell: unknown): unknown {
  if (cell === null) return undefined;
  if (typeof cell === 'number') {
    if (cell < known.length) return known[cell];
    throw new BadStateError('a text is not there');
  }
  if (known.length < KNOWN_TEXTS) known.push(cell);
  return cell;
}
