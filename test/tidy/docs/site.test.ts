/** The site shows every page, each on one shelf. */
import { expect, it } from 'vitest';
import { GUIDES, INSIDE, REFERENCE } from '../../../docs/.vitepress/shelves.ts';
import { API_PAGES } from '../../../scripts/docs/api-pages.ts';
import { filesBelow, read } from '../../support/files.ts';

it('every page but the first stands on one shelf, once', () => {
  const shown = [...GUIDES, ...REFERENCE, ...INSIDE].flatMap((shelf) => shelf.pages);
  const pages = filesBelow('docs', /\.md$/)
    .map((file) => file.replace(/^docs\/|\.md$/g, ''))
    .filter((page) => page !== 'index' && !page.startsWith('adr/'));
  expect(shown.toSorted()).toEqual(pages.toSorted());
});

it('the API reference has a page of every entry point of the package', () => {
  const exports: Readonly<Record<string, unknown>> = JSON.parse(read('package.json')).exports;
  const entries = Object.keys(exports)
    .filter((entry) => !entry.endsWith('.json'))
    .map((entry) => entry.replace('.', 'fairloom'));
  expect([...new Set(API_PAGES.map(({ from }) => from))].toSorted()).toEqual(entries.toSorted());
});
