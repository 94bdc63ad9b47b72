/** Rows as CSV, by RFC 4180; no text of it is a formula to the program that opens it. */
import { isRecord } from '../base/records.ts';

/** One column: its name, and the keys that lead to its value. */
export type CsvColumn = string;

/** The names of some columns, as the first line. */
export function csvHead(columns: readonly CsvColumn[]): string {
  return lineOf(columns);
}

/** One row. Moments are ISO 8601, what is no plain value is JSON, what is not there is empty. */
export function csvRow(columns: readonly CsvColumn[], row: unknown): string {
  return lineOf(columns.map((column) => textAt(row, column)));
}

/** Some words as a line of one cell. */
export function csvNote(words: string): string {
  return lineOf([guarded(words)]);
}

function lineOf(cells: readonly string[]): string {
  return `${cells.map(quoted).join(',')}\r\n`;
}

function textAt(row: unknown, column: CsvColumn): string {
  const value = column
    .split('.')
    .reduce<unknown>((one, key) => (isRecord(one) ? one[key] : undefined), row);
  if (value === undefined || value === null) return '';
  if (typeof value === 'string') return guarded(value);
  if (typeof value === 'number' && /(^a|A)t$/.test(column)) return momentText(value);
  return typeof value === 'object' ? guarded(JSON.stringify(value)) : String(value);
}

/** What no Date can hold stays a number. */
function momentText(at: number): string {
  const date = new Date(at);
  return Number.isNaN(date.getTime()) ? String(at) : date.toISOString();
}

/** What begins so is run by spreadsheets, with blanks before it or in full width too: an apostrophe makes it text. */
const FORMULA = /^\s*[=+\-@\uFF1D\uFF0B\uFF0D\uFF20]|^[\t\r\n]/;

function guarded(text: string): string {
  return FORMULA.test(text) ? `'${text}` : text;
}

function quoted(text: string): string {
  return /[",\r\n]|^\s|\s$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
