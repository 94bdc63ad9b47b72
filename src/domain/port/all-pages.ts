/** Listings from their first page to the last. */
import type { Page, PageRequest } from './inspection.ts';

/** Every page of at most `limit` rows: each is read when it is asked for, and none after a break. */
export async function* allPages<P extends Page<unknown>>(
  limit: number,
  read: (request: PageRequest) => Promise<P>,
): AsyncGenerator<P> {
  let page = await read({ limit });
  yield page;
  while (page.cursor !== undefined) {
    page = await read({ limit, cursor: page.cursor });
    yield page;
  }
}
