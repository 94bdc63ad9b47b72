/** Cursors of listings: each has a mark of its listing, and other listings refuse it. */
import { createHash } from 'node:crypto';
import { canonicalJson } from '../../base/canonical-json.ts';
import { InvalidOptionError } from '../../domain/errors/errors.ts';
import type { PageRequest } from '../../domain/port/backend.ts';

/** Identity of a listing: its call, and all options that select or order its rows. */
export interface Listing {
  /** Name of the call, as `tasks.list`. */
  readonly list: string;
  /** The effective filter: calls that select the same rows have the same filter. */
  readonly filter?: Readonly<Record<string, string | boolean | undefined>>;
}

/** Characters of a mark: 48 bits, so that two listings of a store do not share one by chance. */
const MARK_LENGTH = 8;

/**
 * One page of a listing. `read` takes and answers the store's cursor.
 *
 * @throws {@link InvalidOptionError} for a cursor of another listing.
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
