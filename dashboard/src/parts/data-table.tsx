/** Rows of one kind under a head, of which only those in sight are drawn; on phones a row is a card. */

import type { ComponentChildren, VNode } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { Scroller } from './scroller.tsx';

/** One column. */
export interface Column<T> {
  readonly key: string;
  readonly title: ComponentChildren;
  readonly cell: (row: T) => ComponentChildren;
  /** Numbers stand at the right. */
  readonly isNumber?: boolean;
  /** Beside its value on a phone, where there is no head. */
  readonly label?: string;
  /** It names the row. */
  readonly isName?: boolean;
}

interface TableProps<T> {
  /** What the table says, for those who do not see it. */
  readonly label: string;
  /** Chooses widths and cards of the style sheet. */
  readonly kind: string;
  readonly rows: readonly T[];
  readonly columns: readonly Column<T>[];
  readonly keyOf: (row: T) => string;
  /** A class for the row. */
  readonly rowKind?: (row: T) => string;
  /** Asks for more rows; absent when there are none. */
  readonly more?: (() => void) | undefined;
}

/** Fewer are all drawn. */
const ALL_BELOW = 150;
/** Drawn beyond the edges of the window. */
const BEYOND = 30;
/** Of a row that was not drawn yet, in px. */
const ROW_HEIGHT = 33;

/** A table of any length. */
export function DataTable<T>(props: TableProps<T>): VNode {
  const { label, kind, rows, columns, keyOf, rowKind } = props;
  const body = useRef<HTMLTableSectionElement>(null);
  const { from, to, height } = useSight(body, rows.length, props.more);
  return (
    <Scroller label={label}>
      <table class={`tbl ${kind}`} aria-rowcount={rows.length + 1}>
        <thead>
          <tr>
            {columns.map(({ key, title, isNumber }) => (
              <th key={key} scope="col" class={cellKind(key, isNumber)}>
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody ref={body}>
          <Space height={from * height} columns={columns.length} />
          {rows.slice(from, to).map((row, at) => (
            <tr
              key={keyOf(row)}
              class={rowKind?.(row)}
              aria-rowindex={from + at + 2}
              data-row={keyOf(row)}
            >
              {columns.map((column) => (
                <Cell key={column.key} column={column} row={row} />
              ))}
            </tr>
          ))}
          <Space height={(rows.length - to) * height} columns={columns.length} />
        </tbody>
      </table>
    </Scroller>
  );
}

function Cell<T>({ column, row }: { readonly column: Column<T>; readonly row: T }): VNode {
  const { key, cell, isNumber, label, isName } = column;
  if (isName === true) {
    return (
      <th scope="row" class={cellKind(key, isNumber)}>
        {cell(row)}
      </th>
    );
  }
  return (
    <td class={cellKind(key, isNumber)} data-label={label}>
      {cell(row)}
    </td>
  );
}

function cellKind(key: string, isNumber = false): string {
  return `c-${key}${isNumber ? ' num' : ''}`;
}

/** Stands for rows that are not drawn. */
function Space({
  height,
  columns,
}: {
  readonly height: number;
  readonly columns: number;
}): VNode | null {
  if (height <= 0) return null;
  return (
    <tr class="space">
      <td colSpan={columns} style={{ height: `${height}px` }} />
    </tr>
  );
}

interface Sight {
  readonly from: number;
  readonly to: number;
  /** Of one row, as those that are drawn are on average. */
  readonly height: number;
}

/** Which rows are in the window; near the end of them it asks for more. */
function useSight(
  body: { readonly current: HTMLElement | null },
  count: number,
  more: (() => void) | undefined,
): Sight {
  const [sight, setSight] = useState<Sight>({
    from: 0,
    to: Math.min(count, Math.ceil(innerHeight / ROW_HEIGHT) + BEYOND),
    height: ROW_HEIGHT,
  });
  useEffect(() => {
    const look = (): void => {
      const found = body.current;
      if (found === null) return;
      const next = sightOf(found, count, sight);
      if (next.from !== sight.from || next.to !== sight.to) setSight(next);
      const isNearEnd = found.getBoundingClientRect().bottom < innerHeight * 2;
      if (isNearEnd && more !== undefined) more();
    };
    look();
    addEventListener('scroll', look, { passive: true });
    addEventListener('resize', look);
    return () => {
      removeEventListener('scroll', look);
      removeEventListener('resize', look);
    };
  });
  return { ...sight, to: Math.min(sight.to, count) };
}

function sightOf(body: HTMLElement, count: number, { from, to, height }: Sight): Sight {
  if (count <= ALL_BELOW) return { from: 0, to: count, height };
  const rect = body.getBoundingClientRect();
  const drawn = [...body.querySelectorAll('tr:not(.space)')];
  const total = drawn.reduce((sum, row) => sum + row.getBoundingClientRect().height, 0);
  const each = drawn.length === 0 || total === 0 ? height : total / drawn.length;
  const first = Math.max(0, Math.floor(-rect.top / each) - BEYOND);
  const last = Math.min(count, Math.ceil((innerHeight - rect.top) / each) + BEYOND);
  // Small steps are not worth another drawing.
  const isClose = Math.abs(first - from) < BEYOND / 2 && Math.abs(last - to) < BEYOND / 2;
  const isWhole = (first > 0 || from === 0) && (last < count || to === count);
  return isClose && isWhole ? { from, to, height } : { from: first, to: last, height: each };
}
