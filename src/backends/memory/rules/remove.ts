import { STEPS } from '../../../domain/step-bounds.ts';
import type { TaskEntry } from '../store/entities.ts';
import { forgetKeys, leaveKey } from '../store/idempotency.ts';
import { dropSnapshot } from '../store/snapshots.ts';
import type { Store } from '../store/store.ts';
import { cascade, end, endAside, leaveReaders } from './end.ts';
import { leave } from './places.ts';

/** End states in the order of removal, with their retention settings. */
const KEPT = [
  { state: 'finished', ms: 'finishedMs', count: 'finishedCount' },
  { state: 'failed', ms: 'failedMs', count: 'failedCount' },
  { state: 'canceled', ms: 'canceledMs', count: 'canceledCount' },
] as const;
type Kept = (typeof KEPT)[number];

/** Removes expired ended tasks, oldest first. */
export function retain(store: Store): boolean {
  forgetKeys(store, STEPS.retainStep);
  const left = { n: STEPS.retainStep };
  let more = false;
  for (const kept of KEPT) more = retainState(store, kept, left) || more;
  return more;
}

/** Whether `retain` would remove anything. */
export function hasSurplus(store: Store): boolean {
  return KEPT.some((kept) => surplusOf(store, kept) !== undefined);
}

function retainState(store: Store, kept: Kept, left: { n: number }): boolean {
  for (let entry = surplusOf(store, kept); entry; entry = surplusOf(store, kept)) {
    if (entry.optional.cascadeAt !== undefined) return true;
    if (left.n-- <= 0) return true;
    if (!takeAway(store, entry)) return true;
  }
  return false;
}

/** The oldest of a state, if its time has passed or there are too many. */
function surplusOf(store: Store, kept: Kept): TaskEntry | undefined {
  const index = store.byState[kept.state];
  const entry = index.first();
  if (entry?.endedAt === undefined) return undefined;
  const readable = store.now - store.leastKeptMs;
  const surely = store.reading === undefined ? readable : Math.min(readable, store.reading.at - 1);
  const count = store.retention[kept.count];
  const tooMany = count !== undefined && index.size + store.read[kept.state].size > count;
  const over = tooMany ? surely : Math.min(store.now - store.retention[kept.ms], surely);
  return entry.endedAt <= over ? entry : undefined;
}

/**
 * Removes an ended task and everything kept about it. Tasks that wait for its redrive are canceled
 * first, in bounded steps; false while some are left.
 */
export function takeAway(store: Store, entry: TaskEntry): boolean {
  for (let i = 0; i < STEPS.awaitingRedriveStep; i++) {
    const dependent = entry.optional.awaitingRedrive?.first();
    if (dependent === undefined) break;
    entry.optional.awaitingRedrive?.delete(dependent);
    const cause = { type: 'upstream', id: entry.id, state: 'removed' } as const;
    end(store, dependent, { event: 'canceled', cause });
  }
  if ((entry.optional.awaitingRedrive?.size ?? 0) > 0) return false;
  // A failed task could have been redriven, and a join keeps its dependencies readable: they read until now.
  if (entry.state === 'failed' || entry.optional.run?.isJoin === true) leaveReaders(store, entry);
  endAside(store, entry, STEPS.awaitingRedriveStep);
  if ((entry.optional.run?.aside?.size ?? 0) > 0) return false;
  leave(store, entry);
  dropSnapshot(store, entry);
  store.records.delete(entry.id);
  leaveKey(store, entry);
  cascade(store, STEPS.awaitingRedriveStep);
  return true;
}
