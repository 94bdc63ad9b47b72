/** Searches tasks by conditions, in bounded calls. */
import { LIMITS } from '../domain/limits.ts';
import type { Backend, TaskPageRequest } from '../domain/port/backend.ts';
import type { TaskRow, TaskState } from '../domain/task/task.ts';
import { isShown, matcherOf } from './match.ts';
import { placeIn, placeText, SearchWalk, type WalkPlace } from './search-walk.ts';
import type { Where } from './where.ts';

/** One page of search results. */
export interface SearchPage<T> {
  /** By state, and within a state in the order of its index. */
  readonly items: readonly T[];
  /** Cursor of the next page; absent at the end. */
  readonly cursor?: string;
  /** Number of tasks that were checked. */
  readonly searched: number;
  /** The bound at which the search stopped; its cursor continues. Absent otherwise. */
  readonly bound?: number;
}

/** The states, those of most interest to operators first. */
export const STATES_BY_INTEREST: readonly TaskState[] = [
  'started',
  'queued',
  'scheduled',
  'deferred',
  'failed',
  'canceled',
  'finished',
];

/** Rows of one step. */
const STEP_ROWS = 200;

/** One page; `now` is the moment for ages, in ms since the epoch. */
export async function search(
  backend: Pick<Backend, 'inspect' | 'users' | 'queues'>,
  { where, now }: { readonly where: Where; readonly now: number },
  { limit, cursor, values = false }: TaskPageRequest,
): Promise<SearchPage<TaskRow>> {
  const walk = new SearchWalk(backend, where, { states: STATES_BY_INTEREST });
  const [isMeant, isOne] = [matcherOf(where, now), isShown(where)];
  const items: TaskRow[] = [];
  let searched = 0;
  let place = cursor === undefined ? walk.start : placeIn(cursor);
  while (place !== undefined) {
    const from: WalkPlace = place;
    const rows = values ? limit - items.length : STEP_ROWS;
    const step = await walk.step(from, { limit: rows, values });
    for (const [at, row] of step.rows.entries()) {
      if (!isOne(row) || !isMeant(row)) continue;
      items.push(row);
      if (items.length < limit) continue;
      searched += at + 1;
      const behind = await walk.behind(from, step, at + 1);
      return { items, searched, ...(behind === undefined ? {} : { cursor: placeText(behind) }) };
    }
    searched += step.looked;
    place = step.next;
    if (place !== undefined && searched >= LIMITS.searchScan) {
      return { items, cursor: placeText(place), searched, bound: LIMITS.searchScan };
    }
  }
  return { items, searched };
}
