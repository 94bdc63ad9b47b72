import { USUAL_WEIGHT } from '../../../domain/fairness/fair-share.ts';
import { LIMITS } from '../../../domain/limits.ts';
import type { QueueEntry, TaskEntry, UserEntry } from '../store/entities.ts';
import type { Aside } from '../store/parked.ts';
import { isGated, reindex } from '../store/ready-index.ts';
import type { Store, WorkerEntry } from '../store/store.ts';
import { isAbandoned } from './choose.ts';
import { end } from './end.ts';
import { bringBackOne, parkAgain, setDeadline } from './places.ts';
import { nameKnownAt, scopeOf, wake } from './workers.ts';

/** A task that was brought back for one lease. */
export interface Brought {
  readonly entry: TaskEntry;
  /** Its `parkedUntil` while it was parked. */
  readonly until: number;
  readonly turn: number;
}

/**
 * Returns parked tasks that the worker can run to their places, one user after another, as many as
 * it has slots, and adds them to `brought`. Answers whether more are left.
 */
export function bringBack(
  store: Store,
  queue: QueueEntry,
  { worker, slots }: { readonly worker: WorkerEntry; readonly slots: number },
  brought: Brought[],
): boolean {
  if (queue.parked.count === 0 || isGated(store, queue)) return false;
  // The worker is here: the returned tasks need no wake-up.
  const { gain } = queue;
  let slotsLeft = slots;
  let turns = queue.parked.rotation(worker.names, (user) => reaches(worker, user));
  let left = false;
  while (slotsLeft > 0 && turns.length > 0) {
    const again: Aside<TaskEntry>[] = [];
    for (const turn of turns) {
      if (slotsLeft === 0) left = true;
      else slotsLeft -= visit(store, turn, slotsLeft, brought);
      if (turn.tasks.size > 0) again.push(turn);
    }
    turns = again;
  }
  queue.gain = gain;
  return left || turns.length > 0;
}

/** Returns some tasks of one user's level; answers their number. */
function visit(
  store: Store,
  turn: Aside<TaskEntry>,
  slotsLeft: number,
  brought: Brought[],
): number {
  const { user, tasks } = turn;
  const weight = store.settingsOf(user).weight ?? USUAL_WEIGHT;
  const most = Math.min(slotsLeft, Math.max(1, Math.ceil(weight / USUAL_WEIGHT)));
  const at = user.queue.parked.toEnd(turn);
  let came = 0;
  for (; came < most; came++) {
    const entry = tasks.first();
    if (entry === undefined) break;
    brought.push({ entry, until: entry.optional.parkedUntil ?? 0, turn: at });
    bringBackOne(store, entry);
  }
  reindex(store, user);
  return came;
}

/** Parks returned tasks of ready users again that were not served, so that they do not block other workers. */
export function parkLeft(store: Store, brought: readonly Brought[]): void {
  for (const { entry, ...before } of brought) {
    if (entry.state === 'queued' && entry.owner.ready) parkAgain(store, entry, before);
  }
}

/** Whether the lists of a worker let it serve a user. */
function reaches(worker: WorkerEntry, user: UserEntry): boolean {
  const scope = scopeOf(worker, user.queue);
  if (scope === undefined || scope.steal === 'any') return true;
  const { assigned, steal } = scope;
  return user.lists.some((list) => list === assigned || list === steal);
}

/**
 * Parked tasks can run, but not in the worker that has just leased: wakes a worker that knows their
 * names. `parked`: tasks parked by this step.
 */
export function wakeKnowing(
  store: Store,
  queue: QueueEntry,
  newlyParked: readonly TaskEntry[],
): void {
  if (store.line.size === 0 || queue.parked.count === 0 || isGated(store, queue)) return;
  const waiting = [...store.line].filter(({ spec }) => spec.queues.includes(queue.queue));
  const free = waiting.find((worker) => {
    const scope = scopeOf(worker, queue);
    const isFree = scope === undefined || scope.steal === 'any';
    return isFree && [...worker.names].some((name) => queue.parked.knows(name));
  });
  const one =
    free ??
    waiting.find((worker) =>
      newlyParked.some(
        ({ name, owner }) =>
          owner.queue === queue && worker.names.has(name) && reaches(worker, owner),
      ),
    );
  if (one !== undefined) wake(store, one);
}

/** A task parked for an hour fails, unless a worker may still know its name. */
export function lookAgain(store: Store, entry: TaskEntry): void {
  if (isAbandoned(store, entry)) {
    const run = entry.optional.run?.owner ?? '';
    end(store, entry, { event: 'canceled', cause: { type: 'run-ended', run } });
    return;
  }
  // After an outage, or a step of the clock, workers that know it may not have called yet.
  const knownAt =
    store.now < store.sweepAfter
      ? store.sweepAfter - LIMITS.unknownTaskMs
      : nameKnownAt(store, entry.name);
  if (knownAt === undefined) {
    end(store, entry, { event: 'gaveUp', cause: { type: 'unknown-task' } });
    return;
  }
  entry.own().parkedUntil = knownAt + LIMITS.unknownTaskMs;
  setDeadline(store, entry);
}
