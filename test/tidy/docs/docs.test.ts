/** Pages that restate the code, held to it. */
import { describe, expect, it } from 'vitest';
import { loadDecisions, renderDecisions } from '../../../scripts/docs/adr-doc.ts';
import { familiesWithoutRow, renderLayout } from '../../../scripts/docs/layout-doc.ts';
import { loadLimits, renderLimits } from '../../../scripts/docs/limits-doc.ts';
import { renderOutput } from '../../../scripts/docs/output-doc.ts';
import { renderRoutes } from '../../../scripts/docs/routes-doc.ts';
import { renderRows } from '../../../scripts/docs/rows-doc.ts';
import { allCommands } from '../../support/docs/cli-help.ts';
import { read } from '../../support/files.ts';

describe('docs/limits.md', () => {
  it('is what "npm run docs" writes', async () => {
    expect(read('docs/limits.md')).toBe(renderLimits(await loadLimits()));
  });
});

it('docs/adr/README.md is what "npm run docs" writes', () => {
  expect(read('docs/adr/README.md')).toBe(renderDecisions(loadDecisions()));
});

describe('docs/redis-layout.md', () => {
  it('has the tables that "npm run docs" writes', () => {
    const page = read('docs/redis-layout.md');
    expect(page).toBe(renderLayout(page));
  });

  it('has a row for every family of keys', () => {
    expect(familiesWithoutRow(read('docs/redis-layout.md'))).toEqual([]);
  });
});

describe('docs/file-format.md', () => {
  it('has the rows that "npm run docs" writes', () => {
    const page = read('docs/file-format.md');
    expect(page).toBe(renderRows(page));
  });
});

describe('the HTTP API', () => {
  it('has the table of routes that "npm run docs" writes', {
    timeout: 60_000,
  }, () => {
    const page = read('docs/http.md');
    expect(page).toBe(renderRoutes(page));
  });
});

describe('docs/cli-output.md', () => {
  it('is what "npm run docs" writes', () => {
    expect(read('docs/cli-output.md')).toBe(renderOutput());
  });

  it('says of every command what it prints, or that it prints nothing', async () => {
    const page = read('docs/cli-output.md');
    const printing = [...page.matchAll(/^\| `([a-z -]+)` \| `\w+(?:\[\])?` \|$/gm)];
    const silent = /^No JSON comes from (.+)\.$/m.exec(page)?.[1] ?? '';
    const named = [...printing, ...silent.matchAll(/`([a-z -]+)`/g)].map(([, name = '']) => name);
    expect(named.toSorted()).toEqual((await allCommands()).toSorted());
  });
});
