import { readFile } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { task } from 'fairloom';

/** Stands for the slow part of a real report: drawing charts, writing a PDF. */
const RENDER_MS = 200;

/**
 * The sales of one month from the user's own file. It may run more than once (a worker may die
 * half way), so it only reads, and returns everything as its result.
 */
export const report = task(
  'report',
  { retries: 2, timeout: '30s' },
  async (/** @type {{ month: string }} */ { month }, ctx) => {
    const file = new URL(`data/${encodeURIComponent(ctx.user)}.csv`, import.meta.url);
    const [, ...lines] = (await readFile(file, 'utf8')).trim().split('\n');
    const rows = lines.map(parse).filter((row) => row.date.startsWith(`${month}-`));
    await pause(RENDER_MS, undefined, { signal: ctx.signal });

    const cents = rows.reduce((sum, row) => sum + row.units * Math.round(row.price * 100), 0);
    const units = rows.reduce((sum, row) => sum + row.units, 0);
    const products = [...new Set(rows.map((row) => row.product))].sort();
    return { user: ctx.user, month, sales: rows.length, units, revenue: cents / 100, products };
  },
);

/** One line of `date,product,units,price`; a product with a comma is quoted. */
function parse(line) {
  const [date, product, units, price] = line
    .match(/"[^"]*"|[^,]+/g)
    .map((cell) => cell.replaceAll('"', ''));
  return { date, product, units: Number(units), price: Number(price) };
}
