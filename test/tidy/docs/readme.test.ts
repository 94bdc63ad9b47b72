/** README leads to every page, and compares with what was looked at. */
import { expect, it } from 'vitest';
import { filesBelow, read } from '../../support/files.ts';

const readme = read('README.md');
const [, compared = ''] = /^## Compared\n([\s\S]*?)^## /m.exec(readme) ?? [];
const rows = [...compared.matchAll(/^\|(.+)\|$/gm)].map(([, cells = '']) =>
  cells.split('|').map((cell) => cell.trim()),
);
const [heads = []] = rows;
const MANIFEST: { readonly devDependencies: Readonly<Record<string, string>> } = JSON.parse(
  read('package.json'),
);

it('compares with the versions that are measured', () => {
  const packages = { BullMQ: 'bullmq', 'bee-queue': 'bee-queue' };
  const written = Object.keys(packages).map((name) => heads.find((head) => head.startsWith(name)));
  const measured = Object.entries(packages).map(([name, entry]) => {
    const [major, minor] = (MANIFEST.devDependencies[entry] ?? '').split('.');
    return `${name} ${major}.${minor}`;
  });
  expect(written).toEqual(measured);
});

it('says when that was, and fills every cell', () => {
  expect(compared).toMatch(/\bas of [A-Z][a-z]+ 20\d\d\b/);
  expect(rows.length).toBeGreaterThan(10);
  const holes = rows.slice(2).filter((row) => row.length !== heads.length || row.includes(''));
  expect(holes).toEqual([]);
});

it('leads to every page', () => {
  const pages = filesBelow('docs', /^docs\/(guide\/)?(?!index)[\w-]+\.md$/);
  expect(pages.length).toBeGreaterThan(20);
  expect(pages.filter((page) => !readme.includes(`](${page})`))).toEqual([]);
});
