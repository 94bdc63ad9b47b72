import { LIMITS } from '../../domain/limits.ts';
import type { EndState } from '../../domain/task.ts';
import { cascade, end, leaveReaders } from './end.ts';
import type { TaskEntry } from './entities.ts';
import { forgetKeys, leaveKey } from './idempotency.ts';
import { leave } from './places.ts';
import { dropSnapshot } from './snapshots.ts';
import type { Store } from './store.ts';

/** Records that retention takes in one tick. */
const RETAIN = 50;

/** Dependents that still wait for a redrive, canceled in one step of a removal. */
const HELD_STEP = 50;

/** Takes ended tasks away whose time is over, oldest first. */
export function retain(store: Store): boolean {
  forgetKeys(store, RETAIN);
  const { retention } = store;
  const { finishedMs, finishedCount, failedMs, failedCount, canceledMs, canceledCount } = retention;
  const left = { n: RETAIN };
  const finished = retainState(store, 'finished', { ms: finishedMs, count: finishedCount }, left);
  const failed = retainState(store, 'failed', { ms: failedMs, count: failedCount }, left);
  const canceled = retainState(store, 'canceled', { ms: canceledMs, count: canceledCount }, left);
  return finished || failed || canceled;
}

function retainState(
  store: Store,
  state: EndState,
  keep: { readonly ms: number; readonly count: number | undefined },
  left: { n: number },
): boolean {
  const index = store.byState[state];
  const over = store.now - Math.max(keep.ms, LIMITS.resendMs);
  const surely = store.now - LIMITS.resendMs;
  for (let entry = index.first(); entry?.endKey !== undefined; entry = index.first()) {
    const tooMany = keep.count !== undefined && index.size > keep.count && entry.endKey <= surely;
    if (entry.endKey > over && !tooMany) return false;
    if (entry.rare.cascadeAt !== undefined) return true;
    if (left.n-- <= 0) return true;
    if (!takeAway(store, entry)) return true;
  }
  return false;
}

/**
 * Removes an ended task with everything kept about it. Those that still wait for its redrive are
 * canceled first, in bounded steps; false while some are left.
 */
export function takeAway(store: Store, entry: TaskEntry): boolean {
  for (let i = 0; i < HELD_STEP; i++) {
    const dependent = entry.rare.held?.first();
    if (dependent === undefined) break;
    entry.rare.held?.delete(dependent);
    const cause = { type: 'upstream', id: entry.id, state: 'removed' } as const;
    end(store, dependent, { state: 'canceled', cause });
  }
  if (entry.rare.held !== undefined && entry.rare.held.size > 0) return false;
  // One that failed could have been redriven, and a join holds what it joined: they read until now.
  if (entry.state === 'failed' || entry.rare.run?.isJoin === true) leaveReaders(store, entry);
  leave(store, entry);
  dropSnapshot(store, entry);
  store.records.delete(entry.id);
  leaveKey(store, entry);
  cascade(store, HELD_STEP);
  return true;
}
