/** Calls that take several scripts: each answers as much as its budget of units and bytes allows. */
import { BackendUnsupportedError } from '../../../domain/errors/errors.ts';
import { LIMITS } from '../../../domain/limits.ts';
import type { Page, PageRequest } from '../../../domain/port/inspection.ts';

/** Answers for all names, in order; each script answers for the first of the names that it gets. */
export async function answersFor<N, T>(
  names: readonly N[],
  most: number,
  ask: (some: readonly N[]) => Promise<readonly T[]>,
): Promise<readonly T[]> {
  const found: T[] = [];
  while (found.length < names.length) {
    const part = await ask(names.slice(found.length, found.length + most));
    if (part.length === 0) throw new BackendUnsupportedError('a script has answered nothing');
    found.push(...part);
  }
  return found;
}

/** A part of a page. */
export interface Part<T> extends Page<T> {
  /** Size of its rows, where that ends a page. */
  readonly bytes?: number;
  /** Number of rows read, where that ends a page. */
  readonly looked?: number;
}

/** The limits of a part. */
export interface PartRequest extends PageRequest {
  readonly bytes: number;
  readonly scan: number;
}

/**
 * One page from several parts: until it has the requested number of rows, these reach
 * `LIMITS.pageBytes`, or `LIMITS.pageScan` have been read.
 */
export async function pageOf<T, P extends Part<T> = Part<T>>(
  { limit, cursor }: PageRequest,
  ask: (request: PartRequest) => Promise<P>,
): Promise<Page<T> & Omit<P, keyof Part<T>>> {
  const most = Math.min(limit, LIMITS.pageMax);
  const items: T[] = [];
  let [left, scan]: [number, number] = [LIMITS.pageBytes, LIMITS.pageScan];
  let from = cursor;
  for (;;) {
    const request = { limit: most - items.length, bytes: left, scan };
    const part = await ask(from === undefined ? request : { ...request, cursor: from });
    const { items: rows, cursor: next, bytes = 0, looked = 0, ...rest } = part;
    items.push(...rows);
    left -= bytes;
    scan -= looked;
    const isFull = items.length >= most || left <= 0 || scan <= 0;
    if (next === undefined) return { ...rest, items };
    if (isFull) return { ...rest, items, cursor: next };
    from = next;
  }
}
