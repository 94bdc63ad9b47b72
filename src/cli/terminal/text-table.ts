import { printableLine } from '../../base/printable.ts';
import { withoutStyle } from './style.ts';

/** One column of a table; a cell is text without line breaks, colors allowed. */
export interface Column<Row> {
  readonly title: string;
  readonly cell: (row: Row) => string;
  readonly align?: 'left' | 'right' | undefined;
}

/** Characters of a cell that are shown; longer ones end in an ellipsis. */
const CELL_MAX = 80;

/** Lines of a table with a heading; columns are parted by two spaces. */
export function textTable<Row>(
  rows: readonly Row[],
  columns: readonly Column<Row>[],
): readonly string[] {
  const titles = columns.map(({ title }) => title);
  const lines = [titles, ...rows.map((row) => columns.map(({ cell }) => cell(row)))];
  const widths = columns.map((_column, at) =>
    Math.max(...lines.map((cells) => shownWidth(cells[at] ?? ''))),
  );
  return lines.map((cells) => {
    const padded = cells.map((text, at) => {
      const space = ' '.repeat(Math.max(0, (widths[at] ?? 0) - shownWidth(text)));
      return columns[at]?.align === 'right' ? space + text : text + space;
    });
    return padded.join('  ').trimEnd();
  });
}

/** Text of others, safe to print: one line, no control characters, at most 80 characters. */
export function cellText(text: string): string {
  const line = printableLine(text);
  const characters = [...line];
  if (characters.length <= CELL_MAX) return line;
  return `${characters.slice(0, CELL_MAX - 1).join('')}…`;
}

/** Columns that a text takes on a terminal: wide East Asian characters and emoji take two. */
function shownWidth(text: string): number {
  let width = 0;
  for (const character of withoutStyle(text)) {
    if (/\p{Mn}|\u200d|\ufe0f/u.test(character)) continue;
    const code = character.codePointAt(0) ?? 0;
    width += isWide(code) ? 2 : 1;
  }
  return width;
}

function isWide(code: number): boolean {
  if (code < 0x1100) return false;
  return (
    code <= 0x115f ||
    (code >= 0x2e80 && code <= 0xa4cf) ||
    (code >= 0xac00 && code <= 0xd7a3) ||
    (code >= 0xf900 && code <= 0xfaff) ||
    (code >= 0xfe30 && code <= 0xfe6f) ||
    (code >= 0xff00 && code <= 0xff60) ||
    (code >= 0x1f300 && code <= 0x1faff)
  );
}
