import { compareUtf8 } from '../../../base/utf8-order.ts';
import { InvalidOptionError } from '../../../domain/errors/errors.ts';
import { LIMITS } from '../../../domain/limits.ts';
import type { Dependent, DependentPage, PageRequest } from '../../../domain/port/backend.ts';
import {
  type DependentPart,
  type DependentPlace,
  dependentPlace,
} from '../../../domain/task/dependents.ts';
import { isEnd } from '../../../domain/task/task.ts';
import type { TaskEntry } from '../store/entities.ts';
import type { SortedList } from '../store/sorted-list.ts';
import type { Store } from '../store/store.ts';
import { waitsFor } from './edges.ts';

/** See `Inspect.dependents`. */
export function dependentsOf(store: Store, id: string, page: PageRequest): DependentPage {
  const entry = store.records.get(id);
  const parts = entry === undefined ? missingParts(store, id) : partsOf(entry);
  const limit = Math.min(page.limit, LIMITS.pageMax);
  const count = parts.reduce((sum, [, list]) => sum + list.size, 0);
  const sizes = { count, awaitingRedrive: entry?.optional.awaitingRedrive?.size ?? 0 };
  const place = page.cursor === undefined ? undefined : placeOf(page.cursor);
  const items: Dependent[] = [];
  let last: DependentPlace | undefined;
  for (const [part, list] of parts) {
    if (place !== undefined && compareParts(part, place[0]) < 0) continue;
    for (const one of rowsBehind(list, place?.[0] === part ? place : undefined)) {
      if (items.length === limit && last !== undefined) {
        return { items, ...sizes, cursor: JSON.stringify(last) };
      }
      last = [part, one.order, one.id];
      // A canceled one may not have left the list yet.
      if (!isEnd(one.state)) items.push(dependentOf(one, id, part));
    }
  }
  return { items, ...sizes };
}

type Part = readonly [part: DependentPart, list: SortedList<TaskEntry>];

function partsOf({ optional }: TaskEntry): readonly Part[] {
  const found: Part[] = [];
  if (optional.waiting !== undefined) found.push(['waiting', optional.waiting]);
  if (optional.awaitingRedrive !== undefined) found.push(['redrive', optional.awaitingRedrive]);
  return found;
}

function missingParts(store: Store, id: string): readonly Part[] {
  return store.missing.all(id).map(([from, list]) => [`@${from}`, list]);
}

/** In the order of the listing: an id may have been stored, or removed, since the last page. */
function compareParts(one: DependentPart, other: DependentPart): number {
  if (one === other) return 0;
  if (one === 'redrive' || other === 'redrive') return one === 'redrive' ? 1 : -1;
  return compareUtf8(one, other);
}

function placeOf(cursor: string): DependentPlace {
  const place = dependentPlace(cursor);
  if (place !== undefined) return place;
  throw new InvalidOptionError('cursor', 'the cursor of a page of this listing', cursor);
}

function rowsBehind(
  list: SortedList<TaskEntry>,
  place: DependentPlace | undefined,
): Iterable<TaskEntry> {
  if (place === undefined) return list;
  return list.from(list.countWhile(({ order }) => order <= place[1]));
}

function dependentOf(entry: TaskEntry, id: string, part: DependentPart): Dependent {
  const { name, owner, state, edges } = entry;
  const base = { id: entry.id, name, user: owner.user, state };
  if (waitsFor(entry, id)) return { ...base, waits: 'suspended' };
  const { onFailure, onCancel } = edges;
  return { ...base, waits: part === 'redrive' ? 'redrive' : 'end', onFailure, onCancel };
}
