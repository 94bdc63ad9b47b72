/** The reports of the public API: one for each entry point, and nothing in them without a docstring. */
import { expect, it } from 'vitest';
import { filesBelow, read } from '../support/files.ts';

const EXPORTED = /^export (?:abstract )?(?:class|interface|type|function|const) (\w+)/gm;
const reports = filesBelow('etc', /\.api\.md$/);

it('has a report for each entry point of the package', () => {
  const { exports } = JSON.parse(read('package.json'));
  const entries = Object.keys(exports).filter((entry) => entry !== './package.json');
  const names = entries.map((entry) => `etc/fairloom${entry.slice(1).replace('/', '-')}.api.md`);
  expect(reports).toEqual(names.sort());
});

it.each(reports)('%s has no undocumented name and no complaint', (report) => {
  const complaints = /\(undocumented\)|Warning: \(|\(ae-[a-z-]+\)/g;
  expect([...read(report).matchAll(complaints)].map(([text]) => text)).toEqual([]);
});

it('fairloom exports at most 300 names: what a program does not write stands in other entries', () => {
  const names = [...read('etc/fairloom.api.md').matchAll(EXPORTED)].map(([, name]) => name);
  const distinct = new Set(names).size;
  expect(distinct).toBeGreaterThan(100);
  expect(distinct).toBeLessThanOrEqual(300);
});
