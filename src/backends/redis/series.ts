import { inChunks } from '../../base/chunks.ts';
import { entriesIn } from '../../base/records.ts';
import type {
  SeriesCell,
  SeriesEntry,
  SeriesReply,
  SeriesRequest,
  SeriesStore,
} from '../../domain/port/backend.ts';
import { isAsked } from '../../domain/port/series.ts';
import {
  type Addition,
  entriesText,
  lookedIn,
  lookedText,
  readAdditions,
} from '../../domain/series/additions.ts';
import type { Looked } from '../../domain/series/growth.ts';
import { placeOf, SeriesRow } from '../../domain/series/series-row.ts';
import { putRow, type SeriesRows } from '../../domain/series/series-rows.ts';
import { SERIES_STEPS, type StepFacts } from '../../domain/series/series-steps.ts';
import type { Session } from './connection/session.ts';
import { flat, text } from './wire/decode.ts';

/** Rows per call: far fewer than a script may carry. */
const CALL_ROWS = 200;

/**
 * See `SeriesStore`. Additions are appended to a list; from time to time a writer merges some: it
 * sums them here, so that the server computes nothing, and stores the sums in hashes, one for each
 * minute and hour, which expire by TTL.
 */
export class RedisSeries implements SeriesStore {
  readonly #session: Session;

  constructor(session: Session) {
    this.#session = session;
  }

  async add(entries: readonly SeriesEntry[]): Promise<void> {
    for (const some of inChunks(entries, CALL_ROWS)) {
      const queues = some.flatMap(({ queue, user }) => (user === undefined ? [queue] : []));
      const isDue = await this.#session.run('seriesAdd', [entriesText(some), ...queues]);
      if (Number(isDue) === 1) await this.#takeIn();
    }
  }

  async read(request: SeriesRequest): Promise<SeriesReply> {
    const { step, from = '', to = '', queue = '', user = '' } = request;
    const facts = SERIES_STEPS[step];
    const steps = new Map<number, SeriesRows>();
    let additions: readonly Addition[] = [];
    for (let start = ''; ; ) {
      const args = [facts.letter, from, to, queue, user, start];
      const reply = flat(await this.#session.run('seriesRead', args));
      const [now, first, last, next, looked, added, ...rows] = reply;
      if (start === '') additions = readAdditions(flat(added).map(text), lookedOf(looked));
      for (const [at, ...fields] of rows.map(flat)) steps.set(Number(at), rowsOf(fields));
      start = text(next);
      if (Number(next) >= 0) continue;
      const range = { first: Number(first), last: Number(last) };
      for (const addition of additions) addTo(steps, facts, addition);
      return { ...range, now: Number(now), cells: cellsOf(steps, range, request) };
    }
  }

  /** If two clients merge at once, one changes nothing. */
  async #takeIn(): Promise<void> {
    const [version, found, added, ...known] = flat(await this.#session.run('seriesTake', []));
    const looked = lookedOf(found);
    const lookedBefore = new Map(looked);
    const steps = new Map<string, SeriesRows>();
    const before = new Map<string, ReadonlySet<string>>();
    for (const [name, fields] of known.map(flat)) {
      const rows = rowsOf(flat(fields));
      before.set(text(name), new Set(rows.keys()));
      steps.set(text(name), rows);
    }
    const additions = readAdditions(flat(added).map(text), looked);
    for (const { at, entries } of additions) {
      for (const [, { letter, ms }] of entriesIn(SERIES_STEPS)) {
        const rows = steps.get(letter + Math.floor(at / ms));
        if (rows !== undefined) for (const entry of entries) putRow(rows, entry);
      }
    }
    const totals = [...looked].flatMap(([queue, one]) =>
      lookedBefore.get(queue) === one ? [] : [queue, lookedText(one)],
    );
    const args = [text(version), flat(added).length, totals.length, ...totals];
    for (const [name, rows] of steps) args.push(...stepArgs(name, rows, before.get(name)));
    await this.#session.run('seriesPut', args);
  }
}

/** Arguments of a step: rows to store, and rows to remove. */
function stepArgs(
  name: string,
  rows: SeriesRows,
  before: ReadonlySet<string> = new Set(),
): readonly (string | number)[] {
  const { ms, kept } = name.startsWith('m') ? SERIES_STEPS.minute : SERIES_STEPS.hour;
  const texts = [...rows].flatMap(([field, row]) => [field, row.text()]);
  const gone = [...before].filter((field) => !rows.has(field)).flatMap((field) => [field, '']);
  return [name, (kept + 1) * ms, texts.length + gone.length, ...texts, ...gone];
}

function addTo(steps: Map<number, SeriesRows>, { ms }: StepFacts, { at, entries }: Addition): void {
  const step = Math.floor(at / ms);
  const rows: SeriesRows = steps.get(step) ?? new Map();
  steps.set(step, rows);
  for (const entry of entries) putRow(rows, entry);
}

function cellsOf(
  steps: ReadonlyMap<number, SeriesRows>,
  { first, last }: { readonly first: number; readonly last: number },
  request: SeriesRequest,
): readonly SeriesCell[] {
  const inOrder = [...steps].sort(([one], [other]) => one - other);
  return inOrder.flatMap(([at, rows]) => {
    if (at < first || at > last) return [];
    return [...rows].flatMap(([field, row]) => {
      const place = placeOf(field);
      return place === undefined || !isAsked(request, place) ? [] : [{ at, ...place, row }];
    });
  });
}

/** Rows of one step; skips foreign fields. */
function rowsOf(fields: readonly unknown[]): SeriesRows {
  const rows: SeriesRows = new Map();
  for (let at = 0; at < fields.length; at += 2) {
    const row = SeriesRow.of(text(fields[at + 1]));
    if (row !== undefined) rows.set(text(fields[at]), row);
  }
  return rows;
}

function lookedOf(reply: unknown): Map<string, Looked> {
  const fields = flat(reply);
  const found = new Map<string, Looked>();
  for (let at = 0; at < fields.length; at += 2) {
    const looked = lookedIn(text(fields[at + 1]));
    if (looked !== undefined) found.set(text(fields[at]), looked);
  }
  return found;
}
