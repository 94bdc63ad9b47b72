/** docs/performance.md shows the newest committed results, and nothing else. */
import { describe, expect, it } from 'vitest';
import { BENCHES } from '../../../bench/benches.ts';
import {
  readPerformancePage,
  renderPerformancePage,
} from '../../../bench/docs/performance-page.ts';
import { filesBelow } from '../../support/files.ts';

describe('docs/performance.md', () => {
  it('has the tables that "npm run bench -- --docs" writes, that of instructions too', () => {
    const page = readPerformancePage();
    expect(page).toBe(renderPerformancePage(page));
  });
});

describe('bench/', () => {
  it('runs every row, each under the name of its file', () => {
    const files = filesBelow('bench/rows', /\.ts$/).map((path) =>
      path.slice('bench/rows/'.length, -3),
    );
    expect(BENCHES.map(({ name }) => name).sort()).toEqual([...files].sort());
  });

  it('has results of known benches only', () => {
    // Benches beside the rows have files of their own: bench/<name>.ts.
    const beside = filesBelow('bench', /^bench\/[^/]+\.ts$/).map((path) => path.slice(6, -3));
    const names = [...BENCHES.map(({ name }) => name), ...beside];
    const unknown = filesBelow('bench/results', /\.jsonl$/).filter(
      (path) => !names.includes(path.slice('bench/results/'.length, -'.jsonl'.length)),
    );
    expect(unknown).toEqual([]);
  });
});
