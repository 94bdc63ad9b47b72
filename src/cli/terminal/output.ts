/** Data goes to stdout in one of four forms; everything else goes to stderr. */
import { printableJson } from '../../base/printable.ts';
import { type Style, styleFor, terminalLine } from './style.ts';
import { type Column, textTable } from './text-table.ts';

/** `table` for people, `json` one document, `jsonl` one document per row, `id` ids alone. */
export type OutputForm = 'table' | 'json' | 'jsonl' | 'id';

/** As they may be asked for by `--output`, the default first. */
export const OUTPUT_FORMS: readonly OutputForm[] = ['table', 'json', 'jsonl', 'id'];

/** Where a command writes to; the process's own streams but for tests. */
export interface Streams {
  readonly out: NodeJS.WritableStream & { readonly isTTY?: boolean | undefined };
  readonly err: NodeJS.WritableStream & { readonly isTTY?: boolean | undefined };
  readonly env: NodeJS.ProcessEnv;
}

/** How rows of one kind are shown: as JSON, as a line of a table, by their id. */
export interface View<Row> {
  readonly columns: (style: Style) => readonly Column<Row>[];
  /** The documented shape. */
  readonly json: (row: Row) => object;
  readonly id: (row: Row) => string;
  /** Said on stderr when a table would be empty. */
  readonly none: string;
}

/** One thing in its three forms. */
export interface Thing {
  /** The documented shape. */
  readonly json: object;
  readonly id: string | readonly string[];
  readonly text: readonly string[];
}

/** Writes what a command found. */
export class Output {
  readonly form: OutputForm;
  /** For text on stdout. */
  readonly style: Style;
  readonly #streams: Streams;

  constructor(form: OutputForm, streams: Streams) {
    this.form = form;
    this.style = styleFor(streams.out, streams.env);
    this.#streams = streams;
  }

  /** Many rows: an array in JSON, however few. */
  rows<Row>(rows: readonly Row[], view: View<Row>): void {
    if (this.form === 'table' && rows.length === 0) this.note(view.none);
    else if (this.form === 'json') this.json(rows.map(view.json));
    else if (this.form === 'jsonl') for (const row of rows) this.#jsonLine(view.json(row));
    else for (const line of this.#linesOf(rows, view)) this.line(line);
  }

  /** Rows that are shown as they come; in JSON as one array, once all are there. */
  async each<Row>(rows: AsyncIterable<Row>, show: (row: Row) => void): Promise<void> {
    const all: Row[] = [];
    for await (const row of rows) {
      if (this.form === 'json') all.push(row);
      else show(row);
    }
    if (this.form === 'json') this.json(all);
  }

  /** One thing: an object in JSON, lines of text as a table. */
  one(thing: Thing): void {
    switch (this.form) {
      case 'json':
        this.json(thing.json);
        break;
      case 'jsonl':
        this.#jsonLine(thing.json);
        break;
      case 'id':
        for (const id of [thing.id].flat()) this.line(id);
        break;
      case 'table':
        for (const line of thing.text) this.line(line);
    }
  }

  /** A line of data. */
  line(text: string): void {
    this.#streams.out.write(`${terminalLine(text)}\n`);
  }

  /** A value as one document, on several lines. */
  json(value: unknown): void {
    this.#streams.out.write(`${jsonLines(value).join('\n')}\n`);
  }

  /** A line for the reader that is no data. */
  note(text: string): void {
    this.#streams.err.write(`${terminalLine(text)}\n`);
  }

  #jsonLine(value: unknown): void {
    this.#streams.out.write(`${jsonLine(value)}\n`);
  }

  #linesOf<Row>(rows: readonly Row[], view: View<Row>): readonly string[] {
    if (this.form === 'id') return rows.map(view.id);
    const [heading = '', ...lines] = textTable(rows, view.columns(this.style));
    return [this.style.bold(heading), ...lines];
  }
}

/** A value as JSON on one line. */
export function jsonLine(value: unknown): string {
  return printableJson(JSON.stringify(value));
}

/** A value as JSON for people. */
export function jsonLines(value: unknown): readonly string[] {
  return printableJson(JSON.stringify(value, undefined, 2)).split('\n');
}

/** Lines of `name  value`, names aligned; absent values are left out. */
export function fieldLines(
  fields: Readonly<Record<string, string | undefined>>,
  style: Style,
): readonly string[] {
  const present = Object.entries(fields).filter(([, value]) => value !== undefined);
  const width = Math.max(0, ...present.map(([name]) => name.length));
  return present.map(([name, value]) => `${style.dim(name.padEnd(width))}  ${value}`);
}
