/** Pages that restate the code, held to it. */
import { describe, expect, it } from 'vitest';
import { familiesWithoutRow, renderLayout } from '../../../scripts/docs/layout-doc.ts';
import { loadLimits, renderLimits } from '../../../scripts/docs/limits-doc.ts';
import { renderOutput } from '../../../scripts/docs/output-doc.ts';
import { ALLOWED_FROM } from '../../../src/domain/task/transition.ts';
import { allCommands } from '../../support/docs/cli-help.ts';
import { filesBelow, read } from '../../support/files.ts';

describe('docs/errors.md', () => {
  it('has every ErrorCode and no other', () => {
    const codes = [...errorCodes().matchAll(/'([^']+)'/g)].map((match) => match[1]);
    // A code stands in a heading or in the first cell of a row.
    const named = [...read('docs/errors.md').matchAll(/^(?:#+ |\| *)`([A-Z][A-Z_]+)`/gm)];
    const documented = new Set(named.map((match) => match[1]));
    expect(codes.length).toBeGreaterThan(0);
    expect([...documented].sort()).toEqual([...codes].sort());
  });

  it('has every code that a class carries', () => {
    const source = filesBelow('src/domain', /-errors\.ts$/)
      .map(read)
      .join('\n');
    const carried = [...source.matchAll(/\bcode\s*=\s*('[A-Z_]+')/g)].map((match) => match[1]);
    const unknown = carried.filter((code = '') => !errorCodes().includes(code));
    expect([carried.length > 0, unknown]).toEqual([true, []]);
  });
});

describe('docs/lifecycle.md', () => {
  it('draws exactly the edges of ALLOWED_FROM', () => {
    const allowed = Object.entries(ALLOWED_FROM).flatMap(([event, states]) =>
      states.map((state) => `${state}: ${event}`),
    );
    expect([...drawn(read('docs/lifecycle.md'))].sort()).toEqual([...allowed].sort());
  });
});

describe('docs/limits.md', () => {
  it('is what "npm run docs" writes', async () => {
    expect(read('docs/limits.md')).toBe(renderLimits(await loadLimits()));
  });
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

describe('docs/cli-output.md', () => {
  it('is what "npm run docs" writes', { timeout: 60_000 }, () => {
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

/**
 * `from: event` of every edge `from --> to: event` in the first state diagram. One arrow may carry
 * several events, parted by commas; arrows from and to `[*]` are how a task is born and forgotten.
 */
function drawn(page: string): ReadonlySet<string> {
  const diagram = /```mermaid\s+stateDiagram[\s\S]*?```/.exec(page)?.[0] ?? '';
  const edges = diagram.matchAll(/^\s*(\w+)\s*-->\s*\w+\s*:\s*(.+?)\s*$/gm);
  const pairs = [...edges].flatMap(([, from = '', events = '']) =>
    events.split(/\s*,\s*/).map((event) => `${from}: ${event}`),
  );
  return new Set(pairs);
}

function errorCodes(): string {
  return (
    /\btype ErrorCode\s*=([^;]*);/.exec(read('src/domain/errors/fairloom-error.ts'))?.[1] ?? ''
  );
}
