/** Lists that come page by page: the first one is kept fresh, until more are asked for. */
import { useRef, useState } from 'preact/hooks';
import { Problem, read } from '../api/http.ts';
import { say } from './overlay.ts';
import { type Reading, type Source, useReading } from './readings.ts';

/** One page. */
export interface Page<T> {
  readonly items: readonly T[];
  readonly cursor?: string;
}

/** What a page holds. */
type RowOf<P extends Page<unknown>> = P['items'][number];

/** All pages that were read. */
export interface Pages<P extends Page<unknown>> {
  /** Of the first one; rows stand still once there are more. */
  readonly first: Reading<P>;
  readonly items: readonly RowOf<P>[];
  /** Reads the next one; absent on the last. */
  readonly more: (() => void) | undefined;
  /** Back to the first one alone, as it is now. */
  readonly again: () => void;
  /** When what is shown was read, where that is not kept fresh. */
  readonly stoodAt: number | undefined;
}

interface Rest<T> {
  readonly path: string;
  /** The first page as it was when more was asked for: what follows, follows it. */
  readonly first: readonly T[];
  readonly at: number | undefined;
  readonly items: readonly T[];
  readonly cursor: string | undefined;
}

/** The list behind a source. */
export function usePages<P extends Page<unknown>>(source: Source<P>): Pages<P> {
  const first = useReading(source);
  const [kept, setKept] = useState<Rest<RowOf<P>>>();
  const isBusy = useRef(false);
  const rest = kept?.path === source.path ? kept : undefined;
  const cursor = rest === undefined ? first.value?.cursor : rest.cursor;
  const more = async (): Promise<void> => {
    if (isBusy.current || cursor === undefined || first.value === undefined) return;
    isBusy.current = true;
    try {
      const page = await read<P>(withCursor(source.path, cursor));
      setKept({
        path: source.path,
        first: rest?.first ?? first.value.items,
        at: rest?.at ?? first.at,
        items: [...(rest?.items ?? []), ...page.items],
        cursor: page.cursor,
      });
    } catch (error) {
      say(error instanceof Problem ? error.message : String(error), 'bad');
    } finally {
      isBusy.current = false;
    }
  };
  return {
    first,
    items: rest === undefined ? (first.value?.items ?? []) : [...rest.first, ...rest.items],
    more: cursor === undefined ? undefined : () => void more(),
    again: () => setKept(undefined),
    stoodAt: rest?.at,
  };
}

/** Rows of each later page. */
const MORE_ROWS = '500';

function withCursor(path: string, cursor: string): string {
  const [route = '', search = ''] = path.split('?');
  const query = new URLSearchParams(search);
  query.set('cursor', cursor);
  query.set('limit', MORE_ROWS);
  return `${route}?${query}`;
}
