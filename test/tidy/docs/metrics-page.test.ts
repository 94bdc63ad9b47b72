/** The page of metrics says what the table says. */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { METRICS } from '../../../src/metrics/table.ts';

const page = readFileSync(new URL('../../../docs/metrics.md', import.meta.url), 'utf8');

describe('docs/metrics.md', () => {
  it('lists every metric as the table has it, in its order, and no other', () => {
    const rows = page.split('\n').filter((line) => line.startsWith('| `fairloom_'));
    const expected = Object.values(METRICS).map(({ name, kind, scope, labels, help }) => {
      const shown = labels.map((label) => `\`${label}\``).join(' ');
      return `| \`fairloom_${name}\` | ${kind} | ${scope} | ${shown} | ${help} |`;
    });
    expect(rows).toEqual(expected);
  });
});

describe('the table', () => {
  it('names metrics as Prometheus does: counters end in _total, and say what they count in', () => {
    for (const { name, kind, help } of Object.values(METRICS)) {
      expect(name).toMatch(/^[a-z]+(_[a-z]+)*$/);
      expect(name.endsWith('_total')).toBe(kind === 'counter');
      if (kind === 'histogram') expect(name).toMatch(/_seconds$/);
      expect(help).not.toMatch(/\.$/);
    }
    const names = Object.values(METRICS).map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
  });
});
