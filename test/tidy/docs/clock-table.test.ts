/** The table of what a step of the clock does, against the cases of the conformance suite. */
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { CLOCK_JUMPS } from '../../../src/conformance/clock-jumps.ts';

const HEAD = '| Moment | Clock set on by an hour | Clock set back by an hour |';

// F97
it('each moment of the table has its cases, on and back, and each case its row', () => {
  const page = readFileSync('docs/durability.md', 'utf8');
  const [table = ''] = page.slice(page.indexOf(HEAD)).split('\n\n');
  const rows = table.split('\n').slice(2);
  const told = rows.map((row) => row.split('|').map((cell) => cell.trim()));
  expect(told.map(([, moment]) => moment)).toEqual(Object.keys(CLOCK_JUMPS));
  for (const [, moment, on, back] of told) {
    expect([moment, on, back].every((cell) => (cell ?? '').length > 0)).toBe(true);
  }
});
