import { LIMITS } from '../../domain/limits.ts';
import type { CancelReply, ChangeReply, EditedTask } from '../../domain/port/backend.ts';
import type { Cause } from '../../domain/task/cause.ts';
import { isEnd } from '../../domain/task/task.ts';
import { nextState } from '../../domain/task/transition.ts';
import { isBusy } from './enqueue.ts';
import { countRedrive } from './journals.ts';
import { redriveCycle } from './rules/cycles.ts';
import { relink, rewait } from './rules/dependencies.ts';
import { cascade, end, unblock } from './rules/end.ts';
import { wakeByTime } from './rules/events.ts';
import { enterDeferred, leave, stateAfter } from './rules/places.ts';
import { takeAway } from './rules/remove.ts';
import { byArrival, type TaskEntry } from './store/entities.ts';
import { reindex } from './store/ready-index.ts';
import { SortedList } from './store/sorted-list.ts';
import type { Store } from './store/store.ts';
import { becomeDue } from './tick.ts';

/** See `TaskStore.cancel`. */
export function cancel(store: Store, id: string, cause: Cause): CancelReply {
  const reply = cancelOnly(store, id, cause);
  if (reply.kind === 'canceled') cascade(store, LIMITS.cascadeStep);
  return reply;
}

/** The same; the dependents are updated at the end of the step. */
export function cancelOnly(store: Store, id: string, cause: Cause): CancelReply {
  const entry = store.records.get(id);
  if (entry === undefined) return { kind: 'not-found' };
  const { state } = entry;
  if (isEnd(state)) return { kind: 'already-ended', state };
  if (nextState(state, 'cancelRequested', entry) !== undefined) {
    entry.own().cancelCause ??= cause;
    return { kind: 'requested', worker: entry.grant?.worker ?? '' };
  }
  end(store, entry, { event: 'canceled', cause });
  return { kind: 'canceled' };
}

/** See `TaskStore.redrive`. */
export function redrive(
  store: Store,
  id: string,
  edited?: EditedTask,
  endedBy?: number,
): ChangeReply {
  const entry = store.records.get(id);
  if (entry === undefined) return { kind: 'not-found' };
  if (nextState(entry.state, 'redriven', entry) === undefined || isLater(entry, endedBy)) {
    return { kind: 'wrong-state', state: entry.state };
  }
  if (entry.optional.cascadeAt !== undefined) return { kind: 'busy' };
  const cycle = redriveCycle(store, entry);
  if (cycle?.type === 'cycle') return { kind: 'cycle', path: cycle.path };
  if (cycle !== undefined) return { kind: 'dependency-limit', limit: cycle.limit };
  if (edited !== undefined) entry.replaceInput(edited);
  leave(store, entry);
  entry.owner = store.userEntry(entry.owner.queue.queue, entry.owner.user);
  entry.owner.live++;
  entry.seq = 0;
  Object.assign(entry.own(), {
    failures: 0,
    losses: 0,
    releases: 0,
    cause: undefined,
    error: undefined,
    cancelCause: undefined,
  });
  countRedrive(entry.optional.run?.journal);
  relink(store, entry);
  const next = stateAfter(entry, 'redriven');
  enterDeferred(store, entry);
  awaitEndAgain(store, id);
  if (next === 'queued' || !entry.isBlocked) unblock(store, entry);
  cascade(store, LIMITS.cascadeStep);
  return { kind: 'ok', state: entry.state };
}

/** Whether it ended after that moment. */
function isLater({ endedAt = 0 }: TaskEntry, endedBy: number | undefined): boolean {
  return endedBy !== undefined && endedAt > endedBy;
}

/** Tasks that waited for this redrive wait for its end again. */
function awaitEndAgain(store: Store, id: string): void {
  const entry = store.records.get(id);
  if (entry?.optional.awaitingRedrive === undefined) return;
  const own = entry.own();
  const { awaitingRedrive = [] } = own;
  own.awaitingRedrive = undefined;
  own.waiting ??= new SortedList(byArrival);
  for (const dependent of awaitingRedrive) {
    own.waiting.add(dependent);
    rewait(store, dependent);
  }
}

/** One step of `TaskStore.remove`. `more`: not all tasks that waited for its redrive are canceled yet. */
export function remove(
  store: Store,
  id: string,
  endedBy?: number,
): ChangeReply | { readonly kind: 'more' } {
  const entry = store.records.get(id);
  if (entry === undefined) return { kind: 'not-found' };
  if (!isEnd(entry.state) || isLater(entry, endedBy))
    return { kind: 'wrong-state', state: entry.state };
  if (isBusy(entry)) return { kind: 'busy' };
  return { kind: takeAway(store, entry) ? 'ok' : 'more' };
}

/** See `TaskStore.runNow`. */
export function runNow(store: Store, id: string): ChangeReply {
  const entry = store.records.get(id);
  if (entry === undefined) return { kind: 'not-found' };
  if (entry.optional.run?.wait?.for.kind === 'time') {
    wakeByTime(store, entry);
    reindex(store, entry.owner);
    return { kind: 'ok', state: entry.state };
  }
  if (nextState(entry.state, 'due', entry) === undefined) {
    return { kind: 'wrong-state', state: entry.state };
  }
  becomeDue(store, entry);
  cascade(store, LIMITS.cascadeStep);
  return { kind: 'ok', state: entry.state };
}
