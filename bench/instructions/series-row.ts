/** The cost of series: one call adds the counts of many tasks of a process. */

import { LIMITS } from '../../src/domain/limits.ts';
import type { SeriesEntry } from '../../src/domain/port/backend.ts';
import { SeriesRow } from '../../src/domain/series/series-row.ts';
import { withQueue } from './process-rows.ts';
import { eachFor, fill, QUEUE, userOf } from './queue.ts';
import type { Row } from './row.ts';

/** Tasks between two calls: what a process runs in 10 s at 100 a second. */
const TASKS = 1_000;
const USERS = 20;
/** Calls until the additions are merged once. */
const CALLS = LIMITS.seriesTake;

export const SERIES_ROW: Row = {
  name: 'series, a flush of 1,000 tasks of 20 users',
  measure: (redis) =>
    withQueue(redis, async (backend) => {
      await fill(backend, { users: USERS, each: eachFor({ batch: 1, tasks: 1 }, USERS) });
      const entries = entriesOf();
      await backend.series.add(entries);
      const instructions = await redis.count(async () => {
        for (let call = 0; call < CALLS; call++) await backend.series.add(entries);
      });
      return instructions / (CALLS * TASKS);
    }),
};

/** Waits and runs of each length up to a second. */
function entriesOf(): readonly SeriesEntry[] {
  const users = Array.from({ length: USERS }, (_, nth) => ({
    queue: QUEUE,
    user: userOf(nth),
    row: rowOf(TASKS / USERS),
  }));
  return [{ queue: QUEUE, row: rowOf(TASKS) }, ...users];
}

function rowOf(tasks: number): SeriesRow {
  const row = new SeriesRow();
  for (let nth = 0; nth < tasks; nth++) {
    for (const what of ['enqueued', 'started', 'finished'] as const) row.count(what);
    row.wait.note(2 ** ((10 * nth) / tasks));
    row.run.note(2 ** ((10 * nth) / tasks));
  }
  return row;
}
