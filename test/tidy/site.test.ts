/** The site shows every page, each on one shelf. */
import { expect, it } from 'vitest';
import { filesBelow, read } from '../support/files.ts';

it('docs/.vitepress/config.ts names every page but the first, once', () => {
  const shelves = /const SHELVES = \[([\s\S]*?)\n\] as const/.exec(
    read('docs/.vitepress/config.ts'),
  );
  const shown = [...(shelves?.[1] ?? '').matchAll(/'([a-z-]+)'/g)].map(([, page]) => page);
  const pages = filesBelow('docs', /\.md$/)
    .map((file) => file.replace(/^docs\/|\.md$/g, ''))
    .filter((page) => page !== 'index' && !page.startsWith('adr/'));
  expect(shown.toSorted()).toEqual(pages.toSorted());
});
