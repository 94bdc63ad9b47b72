/** Decisions have a number, a status, a date and three parts, and the table of them is complete. */
import { describe, expect, it } from 'vitest';
import { loadDecisions, renderDecisions } from '../../../scripts/docs/adr-doc.ts';
import { filesBelow, read } from '../../support/files.ts';

/** Throws for a page without title, status and date. */
const decisions = loadDecisions();

describe('docs/adr/', () => {
  it('numbers decisions without gaps, in files of the same number', () => {
    const numbers = decisions.map(({ number }) => number);
    expect(numbers).toEqual(decisions.map((_, at) => at + 1));
    expect(decisions.map(({ file }) => Number(file.slice(0, 4)))).toEqual(numbers);
  });

  it('has no page beside them but the table that "npm run docs" writes', () => {
    const pages = decisions.map(({ file }) => `docs/adr/${file}`);
    expect(filesBelow('docs/adr', /./)).toEqual([...pages, 'docs/adr/README.md']);
    expect(read('docs/adr/README.md')).toBe(renderDecisions(decisions));
  });

  it.each(decisions)('$file has context, decision and price, on one page', ({ file }) => {
    const text = read(`docs/adr/${file}`);
    const headings = [...text.matchAll(/^## (.+)$/gm)].map((match) => match[1]);
    expect(headings).toEqual(['Context', 'Decision', 'What we gave up']);
    expect(text.split('\n').length).toBeLessThanOrEqual(70);
  });

  it.each(decisions)('$file names as its successors only later ones', ({ number, status }) => {
    const links = [...status.matchAll(/\[ADR (\d+)\]\((\d{4})-/g)];
    expect(links.every(([, said, linked]) => Number(said) === Number(linked))).toBe(true);
    expect(links.every(([, said]) => Number(said) > number)).toBe(true);
  });

  it('says of the one before, too, that a decision supersedes it', () => {
    const missing = decisions.flatMap(({ file, number }) => {
      const said = /^Supersedes ([\s\S]*?)\n\n/m.exec(read(`docs/adr/${file}`))?.[1] ?? '';
      return [...said.matchAll(/\[ADR (\d+)\]/g)]
        .map(([, old]) => decisions[Number(old) - 1])
        .filter((old) => !old?.status.includes(`[ADR ${number}]`))
        .map((old) => `${old?.file} does not name ADR ${number}`);
    });
    expect(missing).toEqual([]);
  });
});
