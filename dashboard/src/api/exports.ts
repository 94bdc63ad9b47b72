/** Lists that the server gives as files. */
import { commandText } from '../words/commands.ts';

/** What is on the screen, as a file. */
export interface Export {
  /** The route below `export/`; also the name of the file. */
  readonly list: 'audit' | 'dead' | 'runs' | 'tasks' | 'users';
  /** In words, as `tasks that match state:failed`. */
  readonly what: string;
  /** Parameters of the list. */
  readonly query: Readonly<Record<string, string | undefined>>;
  /** The command that does the same, where there is one. */
  readonly command: readonly string[] | undefined;
}

/** How rows are written. */
export type ExportFormat = 'csv' | 'jsonl';

/** Rows of one file. */
export const EXPORT_ROWS = 10_000;

/** A file of this list, below the API. */
export function exportPath({ list, query }: Export, format: ExportFormat): string {
  const given = Object.entries({ ...query, limit: String(EXPORT_ROWS), format }).flatMap(
    ([key, value]): [string, string][] => (value === undefined ? [] : [[key, value]]),
  );
  return `export/${list}?${new URLSearchParams(given)}`;
}

/** The command, with as many rows. */
export function exportCommand({ command }: Export): string | undefined {
  if (command === undefined) return undefined;
  return commandText(...command, '--limit', String(EXPORT_ROWS), '--output', 'jsonl');
}

/** The last line of a file that was cut says so, in either form. */
export function isCut(end: string): boolean {
  return /(?:^|\n)(?:\{"cut":|cut after )[^\n]*\n$/.test(end);
}
