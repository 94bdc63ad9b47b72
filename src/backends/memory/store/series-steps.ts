import { keysIn } from '../../../base/records.ts';
import type { SeriesCell, SeriesReply, SeriesRequest } from '../../../domain/port/backend.ts';
import { isAsked } from '../../../domain/port/series.ts';
import { type Looked, NOTHING_COUNTED } from '../../../domain/series/growth.ts';
import { placeOf, type SeriesEntry } from '../../../domain/series/series-row.ts';
import { putRow, type SeriesRows } from '../../../domain/series/series-rows.ts';
import {
  SERIES_STEPS,
  type SeriesStep,
  stepsBetween,
} from '../../../domain/series/series-steps.ts';

/** Counts per minute and hour: rows by step, and the totals of queues at their last read. */
export class SeriesSteps {
  readonly looked: Map<string, Looked> = new Map();
  private readonly steps: Readonly<Record<SeriesStep, Map<number, SeriesRows>>> = {
    minute: new Map(),
    hour: new Map(),
  };

  /** Adds a new queue. */
  begin(queue: string, at: number): void {
    this.looked.set(queue, { at, totals: { ...NOTHING_COUNTED } });
  }

  /** Adds to the minute and the hour of a moment. */
  add(now: number, entries: readonly SeriesEntry[]): void {
    for (const step of keysIn(SERIES_STEPS)) {
      const { ms, kept } = SERIES_STEPS[step];
      const rowsByStep = this.steps[step];
      const at = Math.floor(now / ms);
      for (const old of rowsByStep.keys()) if (old <= at - kept) rowsByStep.delete(old);
      const rows: SeriesRows = rowsByStep.get(at) ?? new Map();
      rowsByStep.set(at, rows);
      for (const entry of entries) putRow(rows, entry);
    }
  }

  /** Rows of all minutes and hours. */
  *all(): Generator<readonly [step: SeriesStep, at: number, rows: SeriesRows]> {
    for (const step of keysIn(SERIES_STEPS)) {
      for (const [at, rows] of this.steps[step]) yield [step, at, rows];
    }
  }

  /** Takes a minute or hour of another store. */
  takeOver(step: SeriesStep, at: number, rows: SeriesRows): void {
    this.steps[step].set(at, rows);
  }

  read(now: number, request: SeriesRequest): SeriesReply {
    const range = stepsBetween(SERIES_STEPS[request.step], now, request);
    const cells: SeriesCell[] = [];
    for (let at = range.first; at <= range.last; at++) {
      for (const [field, row] of this.steps[request.step].get(at) ?? []) {
        const place = placeOf(field);
        if (place === undefined || !isAsked(request, place)) continue;
        cells.push({ at, ...place, row: row.copy() });
      }
    }
    return { ...range, now, cells };
  }
}
