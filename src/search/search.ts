/** Searches tasks by conditions, as far as one call may look. */
import { LIMITS } from '../domain/limits.ts';
import type { Backend, TaskPageRequest } from '../domain/port/backend.ts';
import type { TaskRow, TaskState } from '../domain/task/task.ts';
import { isShown, matcherOf } from './match.ts';
import { placeIn, placeText, SearchWalk, type WalkPlace } from './search-walk.ts';
import type { Where } from './where.ts';

/** One page of what a search has found. */
export interface SearchPage<T> {
  /** In the order of their states, and in each in the order of its index. */
  readonly items: readonly T[];
  /** Give it back to go on; absent when all has been looked at. */
  readonly cursor?: string;
  /** How many tasks were looked at. */
  readonly searched: number;
  /** Present when the search stopped since it had looked at so many; its cursor goes on. */
  readonly bound?: number;
}

/** The states in the order in which they interest an operator. */
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

/** One page; `now` is what ages are counted to, in ms since the epoch. */
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
