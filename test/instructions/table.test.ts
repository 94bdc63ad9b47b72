/** How figures are compared with the committed table, and when it may be written anew. */
import { describe, expect, it } from 'vitest';
import { ROWS } from '../../bench/instructions/rows.ts';
import {
  judge,
  readTable,
  type Table,
  type TableRow,
  updatedTable,
} from '../../bench/instructions/table.ts';

const HERE = { server: 'redis 7.0.15', allocator: 'jemalloc-5.3.0', arch: 'x64' };
const ORIGIN = { ...HERE, valgrind: '3.19.0', at: '2026-01-01' };

function table(...rows: readonly TableRow[]): Table {
  return { origin: ORIGIN, rows };
}

function measured(thousand: number, counted = thousand) {
  return { name: 'row', thousand, counted, spread: 0 };
}

describe('the committed table', () => {
  it('has every row of the code, in its order, and no other', () => {
    expect(readTable().rows.map(({ name }) => name)).toEqual(ROWS.map(({ name }) => name));
  });

  it('has a figure or a budget for each row, and a figure where the engine can do it', () => {
    const impossible = new Set(ROWS.filter((row) => row.impossible).map(({ name }) => name));
    const without = readTable().rows.filter(
      ({ name, thousand }) => (thousand === undefined) !== impossible.has(name),
    );
    expect(without).toEqual([]);
  });
});

describe('a row', () => {
  const of = (row: Omit<TableRow, 'name'>, thousand: number, counted?: number) =>
    judge(table({ name: 'row', ...row }), measured(thousand, counted), HERE).kind;

  // F75
  it('that has not reached its budget is held to what it needed before, and 3 %', () => {
    expect(of({ thousand: 100, budget: 50 }, 102.9)).toBe('ok');
    expect(of({ thousand: 100, budget: 50 }, 103.1)).toBe('above');
  });

  it('that has reached its budget is held to the budget, and 3 %', () => {
    expect(of({ thousand: 40, budget: 50 }, 51.4)).toBe('ok');
    expect(of({ thousand: 40, budget: 50 }, 51.6)).toBe('above');
  });

  it('without a budget is held to what it needed before', () => {
    expect([of({ thousand: 40 }, 41), of({ thousand: 40 }, 42)]).toEqual(['ok', 'above']);
  });

  it('that was impossible is held to its budget at once', () => {
    expect([of({ budget: 40 }, 41), of({ budget: 40 }, 42)]).toEqual(['ok', 'above']);
  });

  it('on top of another one may differ by 3 % of all that is counted', () => {
    expect(of({ thousand: 40 }, 43.9, 143.9)).toBe('ok');
    expect(of({ thousand: 40 }, 44.3, 144.3)).toBe('above');
  });

  it('that the table does not know is no success', () => {
    expect(judge(table(), measured(1), HERE).kind).toBe('unknown');
  });

  it('on another server fails only when it is far off', () => {
    for (const other of [{ server: 'redis 8.0.0' }, { allocator: 'libc' }, { arch: 'arm64' }]) {
      const judged = (thousand: number) =>
        judge(table({ name: 'row', thousand: 100 }), measured(thousand), { ...HERE, ...other });
      expect([judged(124).kind, judged(126).kind]).toEqual(['ok', 'above']);
    }
  });
});

describe('--update', () => {
  const rows = [{ name: 'row', thousand: 100, budget: 50 }];
  const update = (thousand: number, before: readonly TableRow[] = rows) =>
    updatedTable({ origin: ORIGIN, rows: before }, ['row'], {
      origin: ORIGIN,
      measured: [{ name: 'row', thousand }],
      peers: [{ peer: 'bullmq', row: 'row', thousand: 7 }],
    }).rows;

  it('writes what was measured, and leaves budgets alone', () => {
    expect(update(120)).toEqual([{ name: 'row', thousand: 120, budget: 50, bullmq: 7 }]);
  });

  it('takes no row out of a budget that it has reached', () => {
    const reached = [{ name: 'row', thousand: 49, budget: 50 }];
    expect(update(51, reached)).toEqual([{ name: 'row', thousand: 51, budget: 50, bullmq: 7 }]);
    expect(() => update(52, reached)).toThrow('has reached its budget of 50');
  });

  it('keeps figures of a row that was not measured, of the same server only', () => {
    const kept = (server: string) =>
      updatedTable(table(...rows), ['row'], {
        origin: { ...ORIGIN, server },
        measured: [],
        peers: [],
      }).rows;
    expect(kept(ORIGIN.server)).toEqual(rows);
    expect(() => kept('redis 8.0.0')).toThrow('measure all rows');
  });
});
