/** docs/performance.md: written by hand, but for the tables between its markers. */
import { readFileSync, writeFileSync } from 'node:fs';
import { renderTables } from './tables.ts';

const PAGE = new URL('../../docs/performance.md', import.meta.url);
const BEGIN = '<!-- tables of npm run bench: do not edit -->';
const END = '<!-- end of the tables -->';

/** The page as it should be: its own text, with the tables of the newest results. */
export function renderPerformancePage(text: string): string {
  const begin = text.indexOf(BEGIN);
  const end = text.indexOf(END);
  if (begin < 0 || end < begin) throw new Error(`docs/performance.md lacks "${BEGIN}" or "${END}"`);
  return `${text.slice(0, begin)}${BEGIN}\n\n${renderTables()}\n\n${text.slice(end)}`;
}

export function readPerformancePage(): string {
  return readFileSync(PAGE, 'utf8');
}

export function writePerformancePage(): void {
  writeFileSync(PAGE, renderPerformancePage(readPerformancePage()));
}
