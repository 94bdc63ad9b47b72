/** Progress of tasks, as their handlers report it, in a stream with a reserved name. */

import { isRecord } from '../../base/records.ts';

/** Name of that stream; its chunks are texts of {@link Progress}. */
export const PROGRESS_STREAM = '~progress';

/** One report of `ctx.progress`. */
export interface Progress {
  /** From 0 to 1. */
  readonly fraction: number;
  /** Text of the report; absent without one. */
  readonly message?: string;
  /** Moment of the report, in ms since the epoch on the clock of its process. */
  readonly at: number;
}

/** Stored text of a report: JSON, with lone surrogates escaped. */
export function progressText(progress: Progress): string {
  return JSON.stringify(progress);
}

/** Parses a stored report; `undefined` for text of another form. */
export function readProgress(stored: unknown): Progress | undefined {
  try {
    const value: unknown = JSON.parse(String(stored));
    return isProgress(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function isProgress(value: unknown): value is Progress {
  if (!isRecord(value)) return false;
  const { fraction, message, at } = value;
  const isWords = message === undefined || typeof message === 'string';
  return typeof fraction === 'number' && isWords && typeof at === 'number';
}
