/** Cursors of listings: each carries a mark of the listing that gave it, and no other listing takes it. */
import { createHash } from 'node:crypto';
import { canonicalJson } from '../../base/canonical-json.ts';
import { InvalidOptionError } from '../../domain/errors/errors.ts';
import type { PageRequest } from '../../domain/port/backend.ts';

/** What a listing lists: the call that answers it, and everything that chooses or orders its rows. */
export interface Listing {
  /** As `tasks.list`. */
  readonly list: string;
  /** As the call understands it: two calls that choose the same rows have the same filter. */
  readonly filter?: Readonly<Record<string, string | boolean | undefined>>;
}

/** Characters of a mark: of 48 bits, so that no two listings of a store have the same one by chance. */
const MARK_LENGTH = 8;

/**
 * One page of a listing. `read` gets and gives the cursor as the store knows it.
 *
 * @throws {@link InvalidOptionError} for a cursor that another listing gave.
 */
export async function listed<R extends PageRequest, P extends { readonly cursor?: string }>(
  listing: Listing,
  request: R,
  read: (request: R) => Promise<P>,
): Promise<P> {
  const mark = markOf(listing);
  const { cursor } = request;
  const place = cursor === undefined ? undefined : placeBehind(mark, cursor, listing.list);
  const page = await read(place === undefined ? request : { ...request, cursor: place });
  return page.cursor === undefined ? page : { ...page, cursor: `${mark}${page.cursor}` };
}

function markOf({ list, filter = {} }: Listing): string {
  const text = canonicalJson([list, filter]);
  return createHash('sha256').update(text).digest('base64url').slice(0, MARK_LENGTH);
}

function placeBehind(mark: string, cursor: string, list: string): string {
  if (cursor.startsWith(mark)) return cursor.slice(mark.length);
  const expected = `the cursor of a page of ${list} with the same filter`;
  throw new InvalidOptionError('cursor', expected, cursor);
}
