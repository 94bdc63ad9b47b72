import { impossible } from '../../../base/never.ts';
import { began, emptied, served } from '../../../domain/fairness/priority-shares.ts';
import { LIMITS } from '../../../domain/limits.ts';
import { askPlace } from '../../../domain/task/ask.ts';
import { culpritOf } from '../../../domain/task/cause.ts';
import type { TaskState } from '../../../domain/task/task.ts';
import { nextState, type Pace, type TaskEvent } from '../../../domain/task/transition.ts';
import type { UserEntry } from '../store/entities.ts';
import { byDue, type TaskEntry } from '../store/entities.ts';
import { reindex, settleTime } from '../store/ready-index.ts';
import { SortedList } from '../store/sorted-list.ts';
import type { Store } from '../store/store.ts';

/** The state after an allowed event: callers check that before. */
export function stateAfter(entry: TaskEntry, event: TaskEvent, pace?: Pace): TaskState {
  const { id, state } = entry;
  return nextState(state, event, entry, pace) ?? impossible(`${id} is ${state}, and ${event}`);
}

/**
 * Indexes of the states. Each function adds one entry to an index; the entry has left its old one
 * with `leave`. All of them update the counts and reindex the user.
 */
export function enterQueue(store: Store, entry: TaskEntry): void {
  const user = entry.owner;
  if (entry.seq === 0) entry.seq = ++user.seq;
  setState(entry, 'queued');
  addQueued(entry);
  reindex(store, user);
}

function addQueued(entry: TaskEntry): void {
  const user = entry.owner;
  user.level(entry.level).add(entry);
  if (user.queued === 0) began(user.shares);
  user.counts[entry.level - 1] = (user.counts[entry.level - 1] ?? 0) + 1;
  user.queued++;
}

/** Adds a task to the scheduled tasks of its user, due at a moment in ms since the epoch. */
export function enterScheduled(store: Store, entry: TaskEntry, dueAt: number): void {
  const user = entry.owner;
  entry.dueAt = dueAt;
  setState(entry, 'scheduled');
  store.byState.scheduled.add(entry);
  user.scheduled ??= new SortedList(byDue);
  user.scheduled.add(entry);
  setDueKey(store, user, user.scheduled.first()?.dueAt);
  store.touch(user);
}

/** Adds a task to those that wait for other tasks. */
export function enterDeferred(store: Store, entry: TaskEntry): void {
  setState(entry, 'deferred');
  store.byState.deferred.add(entry);
  store.touch(entry.owner);
}

/**
 * Adds a task to the leased ones, until the end of the lease in ms since the epoch; its user runs
 * one more.
 */
export function enterStarted(store: Store, entry: TaskEntry, leaseUntil: number): void {
  setState(entry, stateAfter(entry, 'leased'));
  store.byState.started.add(entry, leaseUntil);
  entry.owner.running++;
}

/** Takes the head of its line for a lease: its level had a turn. */
export function leaveAsServed(entry: TaskEntry): void {
  const { shares, counts, queue } = entry.owner;
  served(shares, entry.level, counts, queue.priorityWeights);
  dropQueued(entry);
}

/** Removes an entry from the index of its state. The user is not reindexed yet. */
export function leave(store: Store, entry: TaskEntry): void {
  const user = entry.owner;
  switch (entry.state) {
    case 'queued':
      if (entry.optional.parkedUntil === undefined) dropQueued(entry);
      else leaveParked(store, entry);
      break;
    case 'scheduled':
      store.byState.scheduled.delete(entry);
      user.scheduled?.delete(entry);
      setDueKey(store, user, user.scheduled?.first()?.dueAt);
      entry.dueAt = undefined;
      break;
    case 'started':
      store.byState.started.delete(entry);
      user.running--;
      settleTime(store, entry);
      break;
    case 'deferred':
      store.byState.deferred.delete(entry);
      break;
    case 'finished':
    case 'failed':
    case 'canceled':
      store.endedIndex(entry, entry.state).delete(entry);
      if (entry.state === 'failed') store.failures.leave(entry);
      entry.endedAt = undefined;
      break;
  }
  user.queue.counts[entry.state]--;
  if (isDeadLetter(entry)) user.queue.deadLetters--;
  store.touch(user);
}

/** Whether it failed, and not because another task did. */
export function isDeadLetter({ state, optional }: TaskEntry): boolean {
  return state === 'failed' && culpritOf(optional.cause) === undefined;
}

/** The state changes with the index, and the counts with the state. */
export function setState(entry: TaskEntry, state: TaskState): void {
  const isFirstTime = entry.state === 'deferred' || state === 'started';
  if (entry.optional.releasedMs !== undefined && !isFirstTime) entry.own().releasedMs = undefined;
  entry.state = state;
  entry.owner.queue.counts[state]++;
}

function dropQueued(entry: TaskEntry): void {
  const user = entry.owner;
  user.level(entry.level).delete(entry);
  const left = (user.counts[entry.level - 1] ?? 1) - 1;
  user.counts[entry.level - 1] = left;
  user.queued--;
  if (left === 0) emptied(user.shares, entry.level);
}

/** Moves the head of a line to the parked tasks, until a worker knows its name; it stays queued. */
export function park(store: Store, entry: TaskEntry): void {
  dropQueued(entry);
  entry.owner.queue.parked.add(entry);
  entry.own().parkedUntil = store.now + LIMITS.unknownTaskMs;
  setDeadline(store, entry);
  reindex(store, entry.owner);
}

function leaveParked(store: Store, entry: TaskEntry): void {
  entry.owner.queue.parked.delete(entry);
  entry.own().parkedUntil = undefined;
  setDeadline(store, entry);
}

/** Parks a task again that was brought back. */
export function parkAgain(
  store: Store,
  entry: TaskEntry,
  before: { readonly until: number; readonly turn: number },
): void {
  dropQueued(entry);
  entry.owner.queue.parked.add(entry, before.turn);
  entry.own().parkedUntil = before.until;
  setDeadline(store, entry);
  reindex(store, entry.owner);
}

/** Returns a task to its place in line. Its user is not reindexed yet. */
export function bringBackOne(store: Store, entry: TaskEntry): void {
  leaveParked(store, entry);
  addQueued(entry);
}

/** Updates the user's key among the users with due tasks; `undefined`: it has none. */
export function setDueKey(store: Store, user: UserEntry, key: number | undefined): void {
  if (user.dueKey === key) return;
  if (user.dueKey !== undefined) store.dueUsers.delete(user);
  user.dueKey = key;
  if (key !== undefined) store.dueUsers.add(user);
}

/** Lifts the limits of a task's wait. */
export function liftLimits(store: Store, entry: TaskEntry): void {
  if (entry.optional.deadline === undefined) return;
  const own = entry.own();
  own.expiresAt = undefined;
  own.waitUntil = undefined;
  if (own.run !== undefined) own.run.wakeAt = undefined;
  setDeadline(store, entry);
}

/** Its wait for a signal, event, answer or time has ended. */
export function leaveWait(store: Store, entry: TaskEntry): void {
  const wait = entry.optional.run?.wait;
  if (wait === undefined) return;
  store.waiters.delete(entry);
  if (wait.for.kind === 'ask') {
    const how = entry.state === 'canceled' ? 'canceled' : 'ended';
    closeAsk(store, entry, wait.for.ask.id, `${store.now} ${how}`);
  }
  entry.ownRun().wait = undefined;
  const place = store.events.leave(entry);
  if (place !== undefined) passEventOn(store, place);
}

/** Makes the first task that an event has not woken yet due at once, for maintenance. */
export function passEventOn(store: Store, place: string): void {
  const next = store.events.first(place, store.now);
  if (next === undefined) return;
  const facts = next.ownRun();
  // An earlier timeout stays: the event came after it.
  facts.wakeAt = Math.min(facts.wakeAt ?? store.now, store.now);
  setDeadline(store, next);
}

/** Closes a question; the first closing is kept. */
export function closeAsk(store: Store, entry: TaskEntry, id: string, closing: string): void {
  const ask = entry.optional.run?.asks?.get(askPlace(id)?.mark ?? '');
  if (ask === undefined || ask.closing !== undefined) return;
  ask.closing = closing;
  store.asks.delete(ask.record);
}

/** Moves a task's key in the deadline index to the least of its limits. */
export function setDeadline(store: Store, entry: TaskEntry): void {
  const { expiresAt, waitUntil, run, parkedUntil } = entry.optional;
  const earliest = lesser(lesser(lesser(expiresAt, waitUntil), run?.wakeAt), parkedUntil);
  if (entry.optional.deadline === earliest) return;
  if (entry.optional.deadline !== undefined) store.deadlines.delete(entry);
  entry.own().deadline = earliest;
  if (earliest !== undefined) store.deadlines.add(entry);
}

function lesser(a: number | undefined, b: number | undefined): number | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  return Math.min(a, b);
}
