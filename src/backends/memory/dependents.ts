import { compareUtf8 } from '../../base/utf8-order.ts';
import type { Dependent, DependentPage, PageRequest } from '../../domain/backend.ts';
import { type DependentPlace, dependentPlace } from '../../domain/dependents.ts';
import { InvalidOptionError } from '../../domain/errors.ts';
import { LIMITS } from '../../domain/limits.ts';
import { isEnd } from '../../domain/task.ts';
import { waitsFor } from './end.ts';
import type { TaskEntry } from './entities.ts';
import type { SortedList } from './sorted-list.ts';
import type { Store } from './store.ts';

/** See `Inspect.dependents`. */
export function dependentsOf(store: Store, id: string, page: PageRequest): DependentPage {
  const entry = store.records.get(id);
  const waiting = entry === undefined ? store.missing.get(id) : entry.rare.waiting;
  const held = entry?.rare.held;
  const limit = Math.min(page.limit, LIMITS.pageMax);
  const sizes = { count: (waiting?.size ?? 0) + (held?.size ?? 0), held: held?.size ?? 0 };
  const place = page.cursor === undefined ? undefined : placeOf(page.cursor);
  const items: Dependent[] = [];
  let last: DependentPlace | undefined;
  for (const [part, list] of [['waiting', waiting] as const, ['held', held] as const]) {
    if (place?.[0] === 'held' && part === 'waiting') continue;
    for (const one of rowsBehind(list, place?.[0] === part ? place : undefined)) {
      if (items.length === limit && last !== undefined) {
        return { items, ...sizes, cursor: JSON.stringify(last) };
      }
      last = [part, one.createdAt, one.id];
      // One that was canceled meanwhile may not have left the line yet.
      if (!isEnd(one.state)) items.push(dependentOf(one, id, part));
    }
  }
  return { items, ...sizes };
}

function placeOf(cursor: string): DependentPlace {
  const place = dependentPlace(cursor);
  if (place !== undefined) return place;
  throw new InvalidOptionError('cursor', 'the cursor of a page of this listing', cursor);
}

function rowsBehind(
  list: SortedList<TaskEntry> | undefined,
  place: DependentPlace | undefined,
): Iterable<TaskEntry> {
  if (list === undefined) return [];
  if (place === undefined) return list;
  const [, createdAt, id] = place;
  const isPassed = (one: TaskEntry): boolean =>
    one.createdAt < createdAt || (one.createdAt === createdAt && compareUtf8(one.id, id) <= 0);
  return list.from(list.countWhile(isPassed));
}

function dependentOf(entry: TaskEntry, id: string, part: DependentPlace[0]): Dependent {
  const { name, owner, state, edges } = entry;
  const base = { id: entry.id, name, user: owner.user, state };
  if (waitsFor(entry, id)) return { ...base, waits: 'suspended' };
  const { onFailure, onCancel } = edges;
  return { ...base, waits: part === 'held' ? 'redrive' : 'end', onFailure, onCancel };
}
