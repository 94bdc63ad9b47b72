/** Data goes to stdout in one of four forms; everything else goes to stderr. */
import { type Style, styleFor } from './style.ts';
import { type Column, textTable } from './text-table.ts';

/** `table` for people, `json` one document, `jsonl` one document per row, `id` ids alone. */
export type OutputForm = 'table' | 'json' | 'jsonl' | 'id';

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
  readonly id: string;
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
    else for (const line of this.#linesOf(rows, view)) this.line(line);
  }

  /** One thing: an object in JSON, lines of text as a table. */
  one(thing: Thing): void {
    switch (this.form) {
      case 'json':
        this.line(JSON.stringify(thing.json, undefined, 2));
        break;
      case 'jsonl':
        this.line(JSON.stringify(thing.json));
        break;
      case 'id':
        this.line(thing.id);
        break;
      case 'table':
        for (const line of thing.text) this.line(line);
    }
  }

  /** A line of data. */
  line(text: string): void {
    this.#streams.out.write(`${text}\n`);
  }

  /** A line for the reader that is no data. */
  note(text: string): void {
    this.#streams.err.write(`${text}\n`);
  }

  #linesOf<Row>(rows: readonly Row[], view: View<Row>): readonly string[] {
    switch (this.form) {
      case 'json':
        return [JSON.stringify(rows.map(view.json), undefined, 2)];
      case 'jsonl':
        return rows.map((row) => JSON.stringify(view.json(row)));
      case 'id':
        return rows.map(view.id);
      case 'table': {
        const [heading = '', ...lines] = textTable(rows, view.columns(this.style));
        return [this.style.bold(heading), ...lines];
      }
    }
  }
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
