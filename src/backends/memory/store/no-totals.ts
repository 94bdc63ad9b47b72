import type { Total } from '../../../domain/port/inspection.ts';

/** Totals of a new queue. */
export const NO_TOTALS: Readonly<Record<Total, number>> = {
  enqueued: 0,
  finished: 0,
  failed: 0,
  deadLetters: 0,
  canceled: 0,
  retried: 0,
  lost: 0,
  stolen: 0,
};
