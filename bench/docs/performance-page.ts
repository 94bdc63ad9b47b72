/** docs/performance.md: written by hand, except the tables between its markers. */
import { readFileSync, writeFileSync } from 'node:fs';
import { renderTable } from '../instructions/render.ts';
import { readTable } from '../instructions/table.ts';
import { renderTables } from './tables.ts';

const PAGE = new URL('../../docs/performance.md', import.meta.url);

interface Part {
  readonly begin: string;
  readonly end: string;
  readonly render: () => string;
}

const PARTS: readonly Part[] = [
  {
    begin: '<!-- tables of npm run bench: do not edit -->',
    end: '<!-- end of the tables -->',
    render: renderTables,
  },
  {
    begin: '<!-- table of npm run instructions: do not edit -->',
    end: '<!-- end of the table -->',
    render: () => renderTable(readTable()),
  },
];

/** The expected page: its own text, with the tables of the newest results. */
function renderPerformancePage(text: string): string {
  return PARTS.reduce(replaced, text);
}

function replaced(text: string, { begin, end, render }: Part): string {
  const from = text.indexOf(begin);
  const to = text.indexOf(end);
  if (from < 0 || to < from) throw new Error(`docs/performance.md lacks "${begin}" or "${end}"`);
  return `${text.slice(0, from)}${begin}\n\n${render()}\n\n${text.slice(to)}`;
}

function readPerformancePage(): string {
  return readFileSync(PAGE, 'utf8');
}

export function writePerformancePage(): void {
  writeFileSync(PAGE, renderPerformancePage(readPerformancePage()));
}
