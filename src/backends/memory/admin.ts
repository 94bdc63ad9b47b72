import type { CancelReply, ChangeReply } from '../../domain/backend.ts';
import { isEnd } from '../../domain/task.ts';
import { relink, rewait } from './dependencies.ts';
import { cascade, end } from './end.ts';
import { isBusy } from './enqueue.ts';
import { byCreation } from './entities.ts';
import { enterDeferred, enterQueue, leave } from './places.ts';
import { takeAway } from './remove.ts';
import { SortedList } from './sorted-list.ts';
import type { Store } from './store.ts';
import { becomeDue } from './tick.ts';

/** Dependents that a cancel or removal tells within its own step. */
const ADMIN_CASCADE = 100;

/** See `TaskStore.cancel`. */
export function cancel(store: Store, id: string, reason: string): CancelReply {
  const entry = store.records.get(id);
  if (entry === undefined) return { kind: 'not-found' };
  if (isEnd(entry.state)) return { kind: 'already-ended', state: entry.state };
  if (entry.state === 'started') {
    entry.cancelReason ??= reason;
    return { kind: 'requested', worker: entry.worker ?? '' };
  }
  end(store, entry, { state: 'canceled', reason });
  cascade(store, ADMIN_CASCADE);
  return { kind: 'canceled' };
}

/** See `TaskStore.redrive`. */
export function redrive(store: Store, id: string): ChangeReply {
  const entry = store.records.get(id);
  if (entry === undefined) return { kind: 'not-found' };
  if (entry.state !== 'failed') return { kind: 'wrong-state', state: entry.state };
  if (entry.cascadeAt !== undefined) return { kind: 'busy' };
  leave(store, entry);
  entry.owner = store.userLane(entry.owner.lane.queue, entry.owner.user);
  entry.owner.live++;
  Object.assign(entry, {
    seq: 0,
    failures: 0,
    losses: 0,
    releases: 0,
    strange: 0,
    strangeSince: undefined,
    endedAt: undefined,
    endKey: undefined,
    failureType: undefined,
    reason: undefined,
    error: undefined,
    cancelReason: undefined,
  });
  relink(store, entry);
  if (entry.blocked === undefined) enterQueue(store, entry);
  else enterDeferred(store, entry);
  takeHeldBack(store, id);
  return { kind: 'ok', state: entry.state };
}

/** Those that waited for this redrive wait for its end again. */
function takeHeldBack(store: Store, id: string): void {
  const entry = store.records.get(id);
  if (entry?.held === undefined) return;
  const { held } = entry;
  entry.held = undefined;
  entry.waiting ??= new SortedList(byCreation);
  for (const dependent of held) {
    entry.waiting.add(dependent);
    rewait(store, dependent);
  }
}

/** See `TaskStore.remove`. */
export function remove(store: Store, id: string): ChangeReply {
  const entry = store.records.get(id);
  if (entry === undefined) return { kind: 'not-found' };
  if (!isEnd(entry.state)) return { kind: 'wrong-state', state: entry.state };
  if (isBusy(entry)) return { kind: 'busy' };
  return takeAway(store, entry) ? { kind: 'ok' } : { kind: 'busy' };
}

/** See `TaskStore.runNow`. */
export function runNow(store: Store, id: string): ChangeReply {
  const entry = store.records.get(id);
  if (entry === undefined) return { kind: 'not-found' };
  if (entry.state !== 'scheduled') return { kind: 'wrong-state', state: entry.state };
  becomeDue(store, entry);
  return { kind: 'ok', state: entry.state };
}
