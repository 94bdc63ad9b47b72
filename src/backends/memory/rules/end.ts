import { impossible } from '../../../base/never.ts';
import { LIMITS } from '../../../domain/limits.ts';
import type { Cause } from '../../../domain/task/cause.ts';
import type { AttemptRecord, EdgePolicy } from '../../../domain/task/task.ts';
import { isEnd, type TaskState } from '../../../domain/task/task.ts';
import { nextState, type Pace, type TaskEvent } from '../../../domain/task/transition.ts';
import { byArrival, type GoneOwner, TaskEntry } from '../store/entities.ts';
import { releaseKey } from '../store/idempotency.ts';
import { reindex } from '../store/ready-index.ts';
import { SortedList } from '../store/sorted-list.ts';
import type { Store } from '../store/store.ts';
import { waitsFor } from './edges.ts';
import { leavePause, takeAside } from './pause.ts';
import {
  enterDeferred,
  enterQueue,
  isDeadLetter,
  leave,
  leaveWait,
  liftLimits,
  setDeadline,
  setState,
  stateAfter,
} from './places.ts';

/** The end of a task, and what is stored about it. */
export interface Ending {
  /** Event that ended it. */
  readonly event: TaskEvent;
  /** `leaseEnded`: the last loss. */
  readonly pace?: Pace;
  /** Cause of an end other than `finished`. */
  readonly cause?: Cause;
  readonly error?: string;
  readonly result?: string;
}

/**
 * The only way to end a task. The entry leaves its index, its key and its deadline; the cascade
 * updates its dependents.
 */
export function end(store: Store, entry: TaskEntry, ending: Ending): void {
  const state = stateAfter(entry, ending.event, ending.pace);
  if (!isEnd(state)) impossible(`${entry.id} ends ${state}`);
  leave(store, entry);
  const user = entry.owner;
  setState(entry, state);
  entry.endOrder = ++store.endings;
  entry.endedAt = store.now;
  // Ended tasks stay in the order of their ends, even if the clock was set back.
  store.endedLast = Math.max(store.endedLast, store.now);
  store.endedIndex(entry, state).add(entry, store.endedLast);
  entry.result = ending.result;
  if (state !== 'finished') explain(entry, ending);
  if (state === 'failed') store.failures.enter(entry, store.now);
  leavePause(store, entry);
  leaveWait(store, entry);
  if (entry.optional.run?.attendedBy !== undefined) entry.ownRun().attendedBy = undefined;
  liftLimits(store, entry);
  releaseKey(store, entry);
  user.live--;
  user.queue.totals[state]++;
  if (isDeadLetter(entry)) {
    user.queue.totals.deadLetters++;
    user.queue.deadLetters++;
    // A worker logs its own decisions.
    if (ending.error === undefined) store.deadLetters.push(entry);
  }
  store.ended.push(entry);
  // A list that its last dependent has left is none: a snapshot does not keep it.
  const hasWaiting = (entry.optional.waiting?.size ?? 0) > 0;
  if (hasWaiting || entry.upstreamIds.length > 0 || hasAsideToEnd(entry)) {
    standInCascade(store, entry);
  }
  reindex(store, user);
}

/** Ends a task whose time to start has passed by this step's clock; answers whether it did. */
export function endIfExpired(store: Store, entry: TaskEntry | GoneOwner | undefined): boolean {
  if (!(entry instanceof TaskEntry) || isEnd(entry.state)) return false;
  const { expiresAt } = entry.optional;
  if (expiresAt === undefined || expiresAt > store.now) return false;
  end(store, entry, { event: 'gaveUp', cause: { type: 'expired' } });
  return true;
}

/** A failed task may be redriven, and stays paused until then. */
function hasAsideToEnd({ state, optional }: TaskEntry): boolean {
  return (optional.run?.aside?.size ?? 0) > 0 && state !== 'failed';
}

/** Ends tasks that the pause of a run has set aside, since the run has ended; answers their number. */
export function endAside(store: Store, entry: TaskEntry, most: number): number {
  const cause: Cause = { type: 'run-ended', run: entry.id };
  const some = takeAside(store, entry, most);
  for (const one of some) end(store, one, { event: 'canceled', cause });
  return some.length;
}

/** Stores why it did not finish. A task that finishes has no cause: a redrive removed the old one. */
function explain(entry: TaskEntry, { cause, error }: Ending): void {
  const own = entry.own();
  own.cause = cause;
  own.error = error ?? own.error;
}

/** Stores an attempt that did not finish its task, or any after such a one. */
export function recordAttempt(entry: TaskEntry, attempt: AttemptRecord): void {
  const own = entry.own();
  own.attempts ??= [];
  const { attempts } = own;
  const newest = attempts.at(-1);
  if (newest?.error !== undefined) {
    const short = { ...newest, error: newest.error.slice(0, LIMITS.oldErrorBytes) };
    attempts[attempts.length - 1] = short;
  }
  attempts.push(attempt);
  if (attempts.length > LIMITS.attemptsKept) attempts.shift();
}

function standInCascade(store: Store, entry: TaskEntry): void {
  if (entry.optional.cascadeAt !== undefined) return;
  entry.own().cascadeAt = store.now;
  entry.own().left = entry.upstreamIds.length === 0;
  store.cascade.add(entry);
}

/** Runs the steps of ended tasks, oldest first; true if some are left beyond `budget`. */
export function cascade(store: Store, budget: number): boolean {
  let left = budget;
  for (let entry = store.cascade.first(); entry !== undefined; entry = store.cascade.first()) {
    if (left <= 0) return true;
    if (!entry.optional.left) left -= leaveUpstreams(store, entry);
    while (left > 0 && entry.optional.waiting !== undefined) {
      const dependent = entry.optional.waiting.first();
      if (dependent === undefined) {
        entry.own().waiting = undefined;
        break;
      }
      entry.optional.waiting.delete(dependent);
      notify(store, entry, dependent);
      left--;
    }
    if (entry.optional.waiting !== undefined && entry.optional.waiting.size > 0) return true;
    entry.own().waiting = undefined;
    if (hasAsideToEnd(entry)) left -= endAside(store, entry, Math.max(0, left));
    if (hasAsideToEnd(entry)) return true;
    store.cascade.delete(entry);
    entry.own().cascadeAt = undefined;
  }
  return false;
}

/**
 * First part of a cascade: the ended task stops waiting for its dependencies, and reading them. A failed task may
 * be redriven, and a join keeps its dependencies readable, so these read on until they are removed.
 */
function leaveUpstreams(store: Store, entry: TaskEntry): number {
  const own = entry.own();
  own.left = true;
  // A finished join waits for no task, and reads on.
  if (own.run?.isJoin === true && entry.state === 'finished') return 0;
  const { length } = entry.upstreamIds;
  if (own.run !== undefined) leaveAwaited(store, entry);
  const readsOn = entry.state === 'failed' || own.run?.isJoin === true;
  for (const id of entry.dependsOn) {
    const upstream = store.records.get(id);
    if (own.blocked?.has(id) !== true) continue;
    upstream?.optional.waiting?.delete(entry);
    upstream?.optional.awaitingRedrive?.delete(entry);
    store.missing.delete(id, entry);
  }
  if (!readsOn) leaveReaders(store, entry);
  if (entry.state === 'failed') return length;
  // A canceled join never read these.
  if (readsOn && own.blocked !== undefined) {
    own.absent = new Set([...(own.absent ?? []), ...own.blocked]);
  }
  own.blocked = undefined;
  return length;
}

/** It reads none of its upstreams any more. */
export function leaveReaders(store: Store, entry: TaskEntry): void {
  const { blocked, absent, run } = entry.optional;
  const read = entry.dependsOn.filter((id) => !blocked?.has(id) && !absent?.has(id));
  for (const id of [...read, ...(run?.waitFor ?? [])]) {
    const upstream = store.records.get(id);
    if (upstream !== undefined) addReader(store, upstream, -1);
  }
}

/** Updates one dependent after the end of `upstream`. */
function notify(store: Store, upstream: TaskEntry, dependent: TaskEntry): void {
  if (isEnd(dependent.state)) return;
  if (waitsFor(dependent, upstream.id)) {
    notifySuspended(store, upstream, dependent);
    return;
  }
  const policy = policyFor(upstream, dependent);
  switch (policy) {
    case 'run':
      satisfy(store, upstream, dependent);
      break;
    case 'wait':
      awaitRedrive(store, upstream, dependent);
      break;
    case 'cancel':
    case 'fail':
      endByUpstream(store, upstream, { entry: dependent, policy });
      break;
  }
}

/** A dependent's policy for the stored end state of its upstream. */
export function policyFor(upstream: TaskEntry, dependent: TaskEntry): EdgePolicy {
  if (upstream.state === 'failed') return dependent.edges.onFailure;
  if (upstream.state === 'canceled') return dependent.edges.onCancel;
  return 'run';
}

/** An entry ends because its upstream did not finish. */
export function endByUpstream(
  store: Store,
  { id, state }: TaskEntry,
  { entry, policy }: { readonly entry: TaskEntry; readonly policy: 'cancel' | 'fail' },
): void {
  const cause: Cause = { type: 'upstream', id, state: state === 'failed' ? state : 'canceled' };
  end(store, entry, { event: policy === 'cancel' ? 'canceled' : 'gaveUp', cause });
}

/** The upstream no longer blocks the dependent, which now reads it. */
export function satisfy(store: Store, upstream: TaskEntry, dependent: TaskEntry): void {
  addReader(store, upstream, 1);
  dependent.optional.blocked?.delete(upstream.id);
  if (dependent.optional.blocked === undefined || dependent.optional.blocked.size > 0) return;
  const own = dependent.own();
  own.blocked = undefined;
  own.waitUntil = undefined;
  if (own.run !== undefined) own.run.wakeAt = undefined;
  setDeadline(store, dependent);
  if (dependent.state === 'deferred' && dependent.grant === undefined) {
    own.releasedMs = store.now - (upstream.endedAt ?? store.now);
  }
  unblock(store, dependent);
}

/** Nothing blocks the task any more: a join ends, other tasks continue. */
export function unblock(store: Store, entry: TaskEntry): void {
  if (nextState(entry.state, 'joined', entry) !== undefined) {
    if (endIfExpired(store, entry)) return;
    end(store, entry, { event: 'joined', result: 'null' });
    return;
  }
  if (nextState(entry.state, 'unblocked', entry) !== 'queued') return;
  const { expiresInMs } = entry.optional;
  if (expiresInMs !== undefined) {
    entry.own().expiresAt = store.now + expiresInMs;
    setDeadline(store, entry);
  }
  leave(store, entry);
  enterQueue(store, entry);
}

/** Adds a task without an index to that of its new state; a join that nothing blocks ends. */
export function enterLine(store: Store, entry: TaskEntry, state: TaskState): void {
  if (state === 'queued') {
    enterQueue(store, entry);
    return;
  }
  enterDeferred(store, entry);
  if (!entry.isBlocked) unblock(store, entry);
}

/** A task that a suspended run waits for has ended. */
function notifySuspended(store: Store, upstream: TaskEntry, run: TaskEntry): void {
  if (upstream.state === 'finished' || run.optional.run?.wakeOn === 'all') {
    satisfy(store, upstream, run);
    return;
  }
  addReader(store, upstream, 1);
  run.optional.blocked?.delete(upstream.id);
  wake(store, run);
}

/** Wakes a suspended task before all have ended; it reads only those that have. */
export function wake(store: Store, entry: TaskEntry): void {
  dropWaits(store, entry);
  unblock(store, entry);
}

/** Ends all waits of a task, without moving it. */
export function dropWaits(store: Store, entry: TaskEntry): void {
  leaveAwaited(store, entry);
  leaveWait(store, entry);
  entry.own().blocked = undefined;
  entry.ownRun().wakeAt = undefined;
  setDeadline(store, entry);
}

/** Ends its waits for tasks; it reads those that have ended. */
function leaveAwaited(store: Store, entry: TaskEntry): void {
  const { blocked, run } = entry.optional;
  if (blocked === undefined || run === undefined || run.waitFor.length === 0) return;
  const awaited = run.waitFor.filter((id) => blocked.has(id));
  run.waitFor = run.waitFor.filter((id) => !blocked.has(id));
  for (const id of awaited) {
    store.records.get(id)?.optional.waiting?.delete(entry);
    blocked.delete(id);
  }
}

/** The dependent waits for a redrive of its upstream, at most 30 days. */
export function awaitRedrive(store: Store, upstream: TaskEntry, dependent: TaskEntry): void {
  const own = upstream.own();
  own.awaitingRedrive ??= new SortedList(byArrival);
  own.awaitingRedrive.add(dependent);
  waitFor(store, dependent);
}

/** Limits the wait for a task that cannot end without help. */
export function waitFor(store: Store, dependent: TaskEntry): void {
  dependent.own().waitUntil ??= store.now + LIMITS.waitMaxMs;
  setDeadline(store, dependent);
}

/** Changes the number of readers by 1 or -1; an ended task moves in the index of retention. */
export function addReader(store: Store, entry: TaskEntry, change: number): void {
  const { state, moment } = entry;
  if (!isEnd(state) || moment === undefined) {
    entry.own().readers += change;
    return;
  }
  store.endedIndex(entry, state).delete(entry);
  entry.own().readers += change;
  store.endedIndex(entry, state).add(entry, moment.at);
}
