/**
 * Pages for a caller that sees some users only: filled from what it sees, however much of others stands between.
 * So neither their length nor whether another follows says anything of others.
 */
import { InvalidOptionError } from '../domain/errors/errors.ts';
import { LIMITS } from '../domain/limits.ts';
import type { Page, PageRequest } from '../domain/port/backend.ts';
import type { Look } from './look.ts';

/** Rows that are asked for behind a full page, to find whether another follows. */
const AHEAD = 50;

/** Reads that a page takes at once; for more of them the pages of one caller take turns. */
const READS = 4;

/** One listing, or the part of it that is one user's. */
export interface Source<T> {
  readonly read: (page: PageRequest) => Promise<Page<T>>;
  /** Which of its rows are the caller's; absent: all are. */
  readonly sees?: (row: T) => boolean;
}

/** One page of what several sources have, one source after the other. */
export async function pageOfOwn<T>(
  sources: readonly Source<T>[],
  request: PageRequest,
  look: Look,
): Promise<Page<T>> {
  const filling = new Filling(sources, request);
  for (let reads = 0; reads < READS; reads++) {
    const page = await filling.step();
    if (page !== undefined) return page;
  }
  const leave = await look.turn();
  try {
    while (!look.isOver) {
      const page = await filling.step();
      if (page !== undefined) return page;
    }
    return filling.soFar;
  } finally {
    leave();
  }
}

class Filling<T> {
  readonly #sources: readonly Source<T>[];
  readonly #limit: number;
  readonly #items: T[] = [];
  /** Which source is read. */
  #at: number;
  /** Where in it; absent: from its start. */
  #inner: string | undefined;

  constructor(sources: readonly Source<T>[], { limit, cursor }: PageRequest) {
    this.#sources = sources;
    this.#limit = limit;
    [this.#at, this.#inner] = placeOf(cursor, sources.length);
  }

  /** The page, if it would end here. */
  get soFar(): Page<T> {
    if (this.#at >= this.#sources.length) return { items: this.#items };
    return { items: this.#items, cursor: `${this.#at}.${this.#inner ?? ''}` };
  }

  /** Reads on; the page once it is whole. */
  async step(): Promise<Page<T> | undefined> {
    const source = this.#sources[this.#at];
    if (source === undefined) return { items: this.#items };
    const left = this.#limit - this.#items.length;
    const page = await source.read(this.#request(this.#rowsOf(source, left)));
    const own = [...page.items.keys()].filter((at) => isSeen(source, page.items[at]));
    for (const at of own.slice(0, left)) this.#items.push(...page.items.slice(at, at + 1));
    const following = own[left];
    if (following !== undefined) return this.#before(source, following);
    this.#inner = page.cursor;
    if (page.cursor === undefined) this.#at++;
    return undefined;
  }

  /** Of a source that has rows of others so many may stand before the first that is meant. */
  #rowsOf({ sees }: Source<T>, left: number): number {
    if (sees !== undefined) return LIMITS.pageMax;
    return left === 0 ? AHEAD : Math.min(left, LIMITS.pageMax);
  }

  #request(limit: number): PageRequest {
    return this.#inner === undefined ? { limit } : { limit, cursor: this.#inner };
  }

  /** The page, which ends before a row of those that were read last. */
  async #before({ read }: Source<T>, at: number): Promise<Page<T>> {
    if (at === 0) return this.soFar;
    const again = await read(this.#request(at));
    this.#inner = again.cursor;
    return again.cursor === undefined ? { items: this.#items } : this.soFar;
  }
}

function isSeen<T>({ sees }: Source<T>, row: T | undefined): boolean {
  return row !== undefined && (sees === undefined || sees(row));
}

function placeOf(cursor: string | undefined, sources: number): [number, string | undefined] {
  if (cursor === undefined) return [0, undefined];
  const [, digits = '', inner = ''] = /^(\d{1,6})\.(.*)$/s.exec(cursor) ?? [];
  const at = Number(digits);
  if (digits === '' || at >= sources) {
    throw new InvalidOptionError('cursor', 'the cursor of a previous page', cursor);
  }
  return [at, inner === '' ? undefined : inner];
}
