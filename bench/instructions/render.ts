/** The table as lines of a terminal, and as a part of docs/performance.md. */
import type { Measured } from './measure.ts';
import { PEERS } from './peers.ts';
import type { Table, TableRow, Verdict } from './table.ts';

const HEAD = ['thousand instructions per task', 'measured', 'committed', 'change', 'budget'];
const WIDTHS = [40, 9, 10, 8, 7];
const PEER_WIDTH = 10;

/** The head for the lines of {@link measuredLine}. */
export function headLine(): string {
  return line([...HEAD, ...PEERS, '']);
}

/** One measured row, beside the table. */
export function measuredLine(table: Table, measured: Measured, verdict: Verdict): string {
  const { name, thousand, spread } = measured;
  const row: TableRow = table.rows.find((one) => one.name === name) ?? { name };
  const spreads = spread === 0 ? '' : `rounds differ by ${(100 * spread).toFixed(1)} %`;
  return line([
    name,
    figure(thousand),
    figure(row.thousand),
    row.thousand === undefined ? '–' : percent(thousand / row.thousand - 1),
    figure(row.budget),
    ...PEERS.map((peer) => figure(row[peer])),
    [words(verdict), spreads].filter(Boolean).join('; '),
  ]);
}

/** A row that this engine does not support. */
export function impossibleLine(name: string, why: string): string {
  return line([name, '–', '–', '–', '–', ...PEERS.map(() => '–'), why]);
}

/** The committed table, for the page. */
export function renderTable({ origin, rows }: Table): string {
  const { server, allocator, arch, valgrind, at } = origin;
  return [
    '| thousand instructions per task | Fairloom | budget | BullMQ | bee-queue |',
    '|---|---:|---:|---:|---:|',
    ...rows.map((row) => {
      const own = row.thousand === undefined ? figure(undefined) : `**${figure(row.thousand)}**`;
      const others = [row.budget, ...PEERS.map((peer) => row[peer])];
      return `| ${[row.name, own, ...others.map(figure)].join(' | ')} |`;
    }),
    '',
    `${at}: ${server}, ${allocator}, ${arch}, counted by valgrind ${valgrind}.`,
  ].join('\n');
}

function words(verdict: Verdict): string {
  switch (verdict.kind) {
    case 'ok':
      return '';
    case 'above':
      return `ABOVE ${figure(verdict.ceiling)}`;
    case 'unknown':
      return 'NOT IN THE TABLE';
  }
}

function line(cells: readonly string[]): string {
  return cells
    .map((cell, at) => {
      const width = WIDTHS[at] ?? PEER_WIDTH;
      return at === 0 || at === cells.length - 1 ? cell.padEnd(width) : cell.padStart(width);
    })
    .join(' ')
    .trimEnd();
}

/** Tenths below 100. */
function figure(thousand: number | undefined): string {
  if (thousand === undefined) return '–';
  return thousand < 100 ? String(thousand) : Math.round(thousand).toLocaleString('en-US');
}

function percent(share: number): string {
  return `${share < 0 ? '−' : '+'}${Math.abs(100 * share).toFixed(1)} %`;
}
