/** What a tab lists: rows as cells, and what each stands for. */
import { type Column, textTable } from '../terminal/text-table.ts';
import type { Target } from './keys.ts';

/** One row. */
export interface Item {
  readonly target: Target;
  /** What the filter looks at. */
  readonly name: string;
  readonly cells: readonly string[];
}

/** Rows under their titles. */
export interface Listing {
  readonly columns: readonly Column<Item>[];
  readonly items: readonly Item[];
  /** There are more than are looked at. */
  readonly isCut: boolean;
}

/** Rows of one kind, by the columns that lists of them have. */
export function listingOf<Row>(
  rows: readonly Row[],
  columns: readonly Column<Row>[],
  of: {
    readonly target: (row: Row) => Target;
    readonly name: (row: Row) => string;
    readonly isCut: boolean;
  },
): Listing {
  return {
    columns: columns.map(({ title, align }, at) => ({
      title,
      align,
      cell: ({ cells }) => cells[at] ?? '',
    })),
    items: rows.map((row) => ({
      target: of.target(row),
      name: of.name(row),
      cells: columns.map(({ cell }) => cell(row)),
    })),
    isCut: of.isCut,
  };
}

/** Those that pass a filter. */
export function matching({ items }: Listing, filter: string): readonly Item[] {
  return items.filter(({ name }) => name.includes(filter));
}

/** The row that a cursor is on, which may have gone too far down. */
export function chosen(items: readonly Item[], cursor: number): number {
  return Math.max(0, Math.min(cursor, items.length - 1));
}

/** The heading, and as many rows as there is room for, the one at `cursor` among them; it is marked. */
export function tableLines(
  { columns }: Listing,
  items: readonly Item[],
  { cursor, rows }: { readonly cursor: number | undefined; readonly rows: number },
): readonly string[] {
  const from = cursor === undefined ? 0 : Math.max(0, cursor - rows + 1);
  const shown = items.slice(from, from + rows);
  const marked = cursor === undefined ? undefined : shown[cursor - from];
  const mark: Column<Item> = { title: ' ', cell: (item) => (item === marked ? '›' : ' ') };
  return textTable(shown, cursor === undefined ? columns : [mark, ...columns]);
}
