/** All rows, in the order of the table. */
import { ENQUEUE_ROWS } from './enqueue-rows.ts';
import { FEATURE_ROWS } from './feature-rows.ts';
import { LIFE_ROW } from './life-row.ts';
import { PROCESS_ROWS } from './process-rows.ts';
import type { Row } from './row.ts';
import { SERIES_ROW } from './series-row.ts';
import { WAIT_ROWS } from './wait-rows.ts';

export const ROWS: readonly Row[] = [
  ...ENQUEUE_ROWS,
  ...PROCESS_ROWS,
  LIFE_ROW,
  ...FEATURE_ROWS,
  ...WAIT_ROWS,
  SERIES_ROW,
];
