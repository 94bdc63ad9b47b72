import { expect, it } from 'vitest';
import { allPages } from '../../src/domain/port/all-pages.ts';
import type { Page, PageRequest } from '../../src/domain/port/inspection.ts';

/** A listing of the numbers below `count`, and what was asked of it. */
function listing(count: number): {
  readonly asked: PageRequest[];
  readonly read: (request: PageRequest) => Promise<Page<number>>;
} {
  const asked: PageRequest[] = [];
  const read = async (request: PageRequest): Promise<Page<number>> => {
    asked.push(request);
    const from = Number(request.cursor ?? 0);
    const end = Math.min(from + request.limit, count);
    const items = Array.from({ length: end - from }, (_, at) => from + at);
    return end < count ? { items, cursor: String(end) } : { items };
  };
  return { asked, read };
}

it.each([
  [0, [[]]],
  [2, [[0, 1]]],
  [5, [[0, 1], [2, 3], [4]]],
])('of %i rows it gives every page', async (count, pages) => {
  const { asked, read } = listing(count);
  const given: (readonly number[])[] = [];
  for await (const { items } of allPages(2, read)) given.push(items);
  expect(given).toEqual(pages);
  expect(asked).toHaveLength(pages.length);
  expect(asked[0]).toEqual({ limit: 2 });
});

it('reads no page behind the one at which its reader stops', async () => {
  const { asked, read } = listing(100);
  for await (const { items } of allPages(10, read)) if (items.includes(15)) break;
  expect(asked).toEqual([{ limit: 10 }, { limit: 10, cursor: '10' }]);
});

it('goes on behind a page that has no row', async () => {
  const pages: readonly Page<number>[] = [{ items: [], cursor: '1' }, { items: [7] }];
  const given: number[] = [];
  for await (const { items } of allPages(1, async ({ cursor = '0' }) => {
    return pages[Number(cursor)] ?? { items: [] };
  })) {
    given.push(...items);
  }
  expect(given).toEqual([7]);
});
