/** How far tasks have come, as their handlers say: in a stream of each whose name no caller can give. */

import { isRecord } from '../../base/records.ts';

/** That stream; its chunks are texts of {@link Progress}. */
export const PROGRESS_STREAM = '~progress';

/** What `ctx.progress` said. */
export interface Progress {
  /** From 0 to 1. */
  readonly fraction: number;
  /** In words; absent when there are none. */
  readonly message?: string;
  /** When, in ms since the epoch on the clock of the process that said it. */
  readonly at: number;
}

/** What is stored for it: JSON, also of texts that have no UTF-8 form. */
export function progressText(progress: Progress): string {
  return JSON.stringify(progress);
}

/** Reads it back; `undefined` for text of another form. */
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
