/** All pages of a listing as one body: a page is read when the reader has room for it, and none is kept. */
import { isPlainObject } from '../base/records.ts';
import { type Clock, elapsedMs } from '../base/time.ts';
import { Refusal } from '../operations/refusal.ts';
import { csvHead, csvNote, csvRow } from './csv.ts';

/** How rows are written. */
export type ExportFormat = 'csv' | 'jsonl';

/** The formats, the usual one first. */
export const EXPORT_FORMATS: readonly [ExportFormat, ...ExportFormat[]] = ['jsonl', 'csv'];

/** Rows of one export unless the caller says otherwise, and at most. */
export const EXPORT_ROWS = { usual: 10_000, most: 100_000 } as const;

/** The media type of each. */
export const EXPORT_TYPES: Readonly<Record<ExportFormat, string>> = {
  jsonl: 'application/jsonl',
  csv: 'text/csv',
};

/** Rows that are read at once. */
const PAGE_ROWS = 500;

/** Pages of one export: of a filter that finds little, each may have looked at many tasks. */
const PAGES = 400;

/** How old may be what the reader was let in by, in ms, when it is sent a page. */
const ACCESS_MS = 15_000;

/** One page, as its reader may see it. */
export interface ExportPage {
  readonly items: readonly unknown[];
  /** Asks for the next page; absent on the last. */
  readonly cursor?: string;
}

/** What one export needs. */
export interface ExportParts {
  readonly clock: Clock;
  readonly format: ExportFormat;
  /** Of its CSV. */
  readonly columns: readonly string[];
  /** Rows at most. */
  readonly rows: number;
  /** Where to go on. */
  readonly cursor: string | undefined;
  readonly read: (page: {
    readonly limit: number;
    readonly cursor?: string;
  }) => Promise<ExportPage>;
  /** A cursor as the reader may have it. */
  readonly seal: (cursor: string) => Promise<string>;
  /** Asks again what the reader may. */
  readonly stillMay: () => Promise<boolean>;
}

/** A page out of what a listing has answered. */
export function exportPage(answer: unknown): ExportPage {
  if (!isPlainObject(answer) || !Array.isArray(answer['items'])) return { items: [] };
  const { items, cursor } = answer;
  return { items, ...(typeof cursor === 'string' ? { cursor } : {}) };
}

const ENCODER = new TextEncoder();

/**
 * The body of an answer. The first page is read before it is given, so that a mistake is an answer of its own;
 * what fails later breaks the body off.
 */
export async function exportBody(parts: ExportParts): Promise<ReadableStream<Uint8Array>> {
  const pages = pagesOf(parts);
  let next: IteratorResult<string> | undefined = await pages.next();
  return new ReadableStream(
    {
      pull: async (out) => {
        const { done, value } = next ?? (await pages.next());
        next = undefined;
        if (done === true) out.close();
        else out.enqueue(ENCODER.encode(value));
      },
      cancel: async () => {
        await pages.return(undefined);
      },
    },
    { highWaterMark: 0 },
  );
}

/** The text of each page; where more is left, the last line says so, and how to go on. */
async function* pagesOf(parts: ExportParts): AsyncGenerator<string, undefined> {
  const { clock, format, columns, rows, read, seal, stillMay } = parts;
  let cursor = parts.cursor;
  let written = 0;
  let askedAt = elapsedMs(clock);
  let head = format === 'csv' ? csvHead(columns) : '';
  for (let page = 0; page < PAGES && written < rows; page++) {
    if (elapsedMs(clock) - askedAt >= ACCESS_MS) {
      if (!(await stillMay())) throw new Refusal('FORBIDDEN', 'access has changed');
      askedAt = elapsedMs(clock);
    }
    const limit = Math.min(PAGE_ROWS, rows - written);
    const found = await read({ limit, ...(cursor === undefined ? {} : { cursor }) });
    const items = found.items.slice(0, limit);
    written += items.length;
    cursor = found.cursor;
    yield head + items.map((item) => lineOf(format, columns, item)).join('');
    head = '';
    if (cursor === undefined && items.length === found.items.length) return undefined;
  }
  yield cutLine(format, written, cursor === undefined ? undefined : await seal(cursor));
  return undefined;
}

function lineOf(format: ExportFormat, columns: readonly string[], item: unknown): string {
  return format === 'csv' ? csvRow(columns, item) : `${JSON.stringify(item)}\n`;
}

/** A listing that is not paged has no cursor. */
function cutLine(format: ExportFormat, rows: number, cursor: string | undefined): string {
  if (format === 'jsonl') return `${JSON.stringify({ cut: { rows, cursor } })}\n`;
  const next = cursor === undefined ? '' : `; go on with cursor=${cursor}`;
  return csvNote(`cut after ${rows} rows${next}`);
}
