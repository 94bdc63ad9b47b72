/** The committed table: the instructions at the last measurement, and the budget. */
import { readFileSync, writeFileSync } from 'node:fs';
import type { ServerFacts } from './counted-redis.ts';
import type { Measured } from './measure.ts';
import type { Peer } from './peers.ts';

/** Thousand instructions of the server for each task. */
export interface TableRow {
  readonly name: string;
  /** Absent: the engine does not support it yet. */
  readonly thousand?: number | undefined;
  /** Its budget; written by hand. */
  readonly budget?: number | undefined;
  readonly bullmq?: number | undefined;
  readonly 'bee-queue'?: number | undefined;
}

export interface Table {
  readonly origin: ServerFacts & { readonly valgrind: string; readonly at: string };
  readonly rows: readonly TableRow[];
}

/** On the server of the table, counts vary by one hundredth, rarely two. */
const TOLERANCE = 0.03;
/** Counts of another version, allocator or machine only show large deviations. */
const FOREIGN_TOLERANCE = 0.25;

export const TABLE = new URL('table.json', import.meta.url);

export function readTable(file: URL | string = TABLE): Table {
  return JSON.parse(readFileSync(file, 'utf8'));
}

export function writeTable(table: Table, file: URL | string = TABLE): void {
  writeFileSync(file, `${JSON.stringify(table, null, 2)}\n`);
}

/** Whether the figures of the table are of a server like this one. */
export function isSameServer(table: Table, { server, allocator, arch }: ServerFacts): boolean {
  const { origin } = table;
  return origin.server === server && origin.allocator === allocator && origin.arch === arch;
}

/** The share of the whole count by which a row may exceed its ceiling. */
export function toleranceOf(table: Table, facts: ServerFacts): number {
  return isSameServer(table, facts) ? TOLERANCE : FOREIGN_TOLERANCE;
}

export type Verdict =
  | { readonly kind: 'ok' }
  /** It exceeds its limit by more than noise. */
  | { readonly kind: 'above'; readonly ceiling: number }
  /** It is not in the table. */
  | { readonly kind: 'unknown' };

/**
 * The ceiling of a row that has reached its budget is the budget, of another one its earlier count. A row that is
 * measured on top of another carries the noise of both.
 */
export function judge(table: Table, measured: Measured, facts: ServerFacts): Verdict {
  const row = table.rows.find(({ name }) => name === measured.name);
  const ceiling = row === undefined ? undefined : ceilingOf(row);
  if (ceiling === undefined) return { kind: 'unknown' };
  // The share of the count at the ceiling, not of the present count.
  const allowed = toleranceOf(table, facts) * (measured.counted - measured.thousand + ceiling);
  return measured.thousand <= ceiling + allowed ? { kind: 'ok' } : { kind: 'above', ceiling };
}

function ceilingOf({ thousand, budget }: TableRow): number | undefined {
  if (thousand === undefined) return budget;
  return budget === undefined ? thousand : Math.max(thousand, budget);
}

/** The new measurement. */
export interface Update {
  readonly origin: Table['origin'];
  readonly measured: readonly Pick<Measured, 'name' | 'thousand'>[];
  readonly peers: readonly PeerFigure[];
}

/** Thousand instructions of a peer for each task, beside a row. */
export interface PeerFigure {
  readonly peer: Peer;
  readonly row: string;
  readonly thousand: number;
}

/**
 * The table of these rows, with new figures where there are any.
 *
 * @throws when figures of two servers would be mixed; when a row that has reached its budget
 * would exceed it: budgets are changed by hand only.
 */
export function updatedTable(table: Table, names: readonly string[], update: Update): Table {
  const { origin, measured, peers } = update;
  const same = isSameServer(table, origin);
  const rows = names.map((name): TableRow => {
    const row = table.rows.find((one) => one.name === name) ?? { name };
    const thousand = measured.find((one) => one.name === name)?.thousand;
    if (thousand === undefined && row.thousand !== undefined && !same) {
      throw new Error('the table is of another server: to write it anew, measure all rows');
    }
    if (thousand !== undefined) checkBudget(row, thousand);
    const figures = peers.filter((one) => one.row === name).map((one) => [one.peer, one.thousand]);
    return {
      ...row,
      ...(thousand === undefined ? {} : { thousand }),
      ...Object.fromEntries(figures),
    };
  });
  return { origin, rows };
}

function checkBudget({ name, thousand: before, budget }: TableRow, thousand: number): void {
  if (budget === undefined || before === undefined || before > budget) return;
  if (thousand <= budget * (1 + TOLERANCE)) return;
  throw new Error(`"${name}" has reached its budget of ${budget}, and ${thousand} is above it`);
}
