/** Additions to the series, stored separately until they are merged. */
import { type Looked, putGrowth } from './growth.ts';
import { fieldOf, placeOf, type SeriesEntry, SeriesRow } from './series-row.ts';

/** An addition at one moment. */
export interface Addition {
  /** Moment of the addition, in ms since the epoch. */
  readonly at: number;
  /** The counts; for a queue the growth of its own totals. */
  readonly entries: readonly SeriesEntry[];
}

/** Rows as JSON text. */
export function entriesText(entries: readonly SeriesEntry[]): string {
  return JSON.stringify(entries.map((entry) => [fieldOf(entry), entry.row.text()]));
}

/**
 * Parses additions, the oldest first, and records the totals of queues in `looked`. Skips text of
 * another form.
 */
export function readAdditions(
  texts: readonly string[],
  looked: Map<string, Looked>,
): readonly Addition[] {
  return texts.flatMap((text) => {
    const [whole, moment, counted] = /^(\d+) (.*)\n/.exec(text) ?? [];
    if (whole === undefined) return [];
    const at = Number(moment);
    const entries = listIn(text.slice(whole.length)).flatMap((pair) => entryOf(pair));
    for (const row of listIn(counted)) takeNote(at, row, { entries, looked });
    return [{ at, entries }];
  });
}

function takeNote(
  at: number,
  row: unknown,
  {
    entries,
    looked,
  }: { readonly entries: readonly SeriesEntry[]; readonly looked: Map<string, Looked> },
): void {
  const [queue, ...numbers] = Array.isArray(row) ? row : [];
  const now = lookedAt([at, ...numbers.slice(0, TOTALS)]);
  if (typeof queue !== 'string' || now === undefined) return;
  const entry = entries.find((one) => one.queue === queue && one.user === undefined);
  if (entry !== undefined) putGrowth(entry.row, looked.get(queue), now);
  looked.set(queue, now);
}

/** Number of totals of a queue. */
const TOTALS = 6;

/** Moment and totals of a read, as numbers. */
export function lookedText({ at, totals }: Looked): string {
  const { enqueued, finished, failed, canceled, retried, lost } = totals;
  return [at, enqueued, finished, failed, canceled, retried, lost].join(' ');
}

/** Parses that text; `undefined` for text of another form. */
export function lookedIn(text: string): Looked | undefined {
  return lookedAt(text.split(' ').map(Number));
}

function lookedAt(numbers: readonly unknown[]): Looked | undefined {
  const known = numbers.filter((value) => typeof value === 'number' && Number.isFinite(value));
  if (known.length !== TOTALS + 1 || numbers.length !== TOTALS + 1) return undefined;
  const [at = 0, enqueued = 0, finished = 0, failed = 0, canceled = 0, retried = 0, lost = 0] =
    known.map(Number);
  return { at, totals: { enqueued, finished, failed, canceled, retried, lost } };
}

function entryOf(pair: unknown): readonly SeriesEntry[] {
  const [field, text] = Array.isArray(pair) ? pair : [];
  if (typeof field !== 'string' || typeof text !== 'string') return [];
  const [place, row] = [placeOf(field), SeriesRow.of(text)];
  return place === undefined || row === undefined ? [] : [{ ...place, row }];
}

function listIn(text: string | undefined): readonly unknown[] {
  try {
    const value: unknown = JSON.parse(text ?? '');
    return Array.isArray(value) ? value : [];
  } catch {
    return [];
  }
}
