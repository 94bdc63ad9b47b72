/** Measures rows, each as often as requested. */
import { median } from '../kit/statistics.ts';
import type { CountedRedis } from './counted-redis.ts';
import type { Row } from './row.ts';
import { ROWS } from './rows.ts';

/** The result of a row, in thousand instructions for each task. */
export interface Measured {
  readonly name: string;
  /** On top of the row that it names, if it does; the median of the rounds. */
  readonly thousand: number;
  /** The whole count for a task: the base of noise. */
  readonly counted: number;
  /** The largest less the smallest count of the rounds, as a share of `counted`; 0 for one round. */
  readonly spread: number;
}

interface Order {
  readonly rows: readonly Row[];
  readonly rounds: number;
  /** Called with each row as soon as it is measured. */
  readonly tell: (measured: Measured) => void;
}

/** The base rows of relative rows are measured with them. */
export async function measureRows(redis: CountedRedis, { rows, rounds, tell }: Order) {
  const counts = new Map<string, readonly number[]>();
  const countsOf = async (row: Row): Promise<readonly number[]> => {
    const known = counts.get(row.name);
    if (known !== undefined) return known;
    const own: number[] = [];
    for (let round = 0; round < rounds; round++) own.push((await row.measure(redis)) / 1_000);
    counts.set(row.name, own);
    return own;
  };
  for (const row of rows) {
    const base = row.above === undefined ? 0 : median(await countsOf(rowNamed(row.above)));
    const own = await countsOf(row);
    const counted = median(own);
    const spread = (Math.max(...own) - Math.min(...own)) / counted;
    tell({ name: row.name, thousand: tenths(counted - base), counted, spread });
  }
}

function rowNamed(name: string): Row {
  const row = ROWS.find((one) => one.name === name);
  if (row === undefined) throw new TypeError(`no row "${name}"`);
  return row;
}

function tenths(value: number): number {
  return Math.round(value * 10) / 10;
}
