import { appendFile } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { each, task } from 'fairloom';

/** Stands for the slow part of a real transformation. */
const TRANSFORM_MS = 100;
const ROWS = 12;

/** One line per execution, on disk: it survives the kill of its process. */
const note = (node) => appendFile(process.env.ETL_LOG ?? '', `${node} ${process.pid}\n`);

const extract = task('extract', async (/** @type {string} */ day) => {
  await note('extract');
  return Array.from({ length: ROWS }, (_none, at) => ({ id: at, day, euros: 10 + at }));
});

const clean = task('clean', async (/** @type {{ id: number, euros: number }[]} */ rows) => {
  await note('clean');
  return rows.filter(({ euros }) => euros > 0);
});

/** A queue of its own, so that these run on workers that do not walk the pipeline. */
const transform = task(
  'transform',
  { queue: 'rows' },
  async (/** @type {{ id: number, euros: number }} */ { id, euros }) => {
    await note(`transform[${id}]`);
    await pause(TRANSFORM_MS);
    return { id, cents: euros * 100 };
  },
);

const load = task('load', async (/** @type {{ cents: number }[]} */ rows) => {
  await note('load');
  return { rows: rows.length, cents: rows.reduce((sum, { cents }) => sum + cents, 0) };
});

/** Driven, since it has an `each`: one worker at a time walks it, and stores each result. */
export const etl = extract.pipe(clean).pipe(each(transform)).pipe(load).as('etl');
