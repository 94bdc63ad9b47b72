/** Parameters of listings. */
import { LIMITS } from '../domain/limits.ts';
import type { PageRequest } from '../domain/port/backend.ts';
import { type Field, integer, text } from './fields.ts';

/** Rows of a page unless the caller says otherwise: a screenful. */
const DEFAULT_ROWS = 50;

/** Which page. */
export const PAGE_FIELDS: {
  readonly limit: Field<number | undefined>;
  readonly cursor: Field<string | undefined>;
} = {
  limit: integer(`Rows of the page, ${DEFAULT_ROWS} unless it is said.`, {
    least: 1,
    most: LIMITS.pageMax,
  }),
  cursor: text('What the page before gave as its cursor.'),
};

/** The page that they name. */
export function pageOf({
  limit = DEFAULT_ROWS,
  cursor,
}: {
  readonly limit: number | undefined;
  readonly cursor: string | undefined;
}): PageRequest {
  return cursor === undefined ? { limit } : { limit, cursor };
}
