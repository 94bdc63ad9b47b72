import { LIMITS } from '../../domain/limits.ts';
import type { AttemptRecord, EdgePolicy, EndState, FailureType } from '../../domain/task.ts';
import { isEnd } from '../../domain/task.ts';
import { byCreation, HELD, type TaskEntry } from './entities.ts';
import { releaseKey } from './idempotency.ts';
import { enterQueue, leave, setDeadline, setState } from './places.ts';
import { reindex } from './ready-index.ts';
import { SortedList } from './sorted-list.ts';
import type { Store } from './store.ts';

export interface Ending {
  readonly state: EndState;
  readonly failureType?: FailureType;
  readonly reason?: string;
  readonly error?: string;
  readonly result?: string;
}

/**
 * The one way to end: everything that puts a task into an end state comes through here. The entry
 * leaves its place, its key and its deadline; its dependents hear of it by the cascade.
 */
export function end(store: Store, entry: TaskEntry, ending: Ending): void {
  leave(store, entry);
  const user = entry.owner;
  setState(entry, ending.state);
  entry.endedAt = store.now;
  entry.endKey = store.now + (entry.readers > 0 ? HELD : 0);
  store.byState[ending.state].add(entry);
  entry.failureType = ending.failureType;
  entry.reason = ending.reason;
  entry.error = ending.error ?? entry.error;
  entry.result = ending.result;
  entry.token = undefined;
  entry.leaseUntil = undefined;
  entry.expiresAt = undefined;
  entry.waitUntil = undefined;
  setDeadline(store, entry);
  releaseKey(store, entry);
  user.live--;
  store.totals[ending.state]++;
  store.ended.push(entry);
  if (entry.waiting !== undefined || entry.dependsOn.length > 0) standInCascade(store, entry);
  reindex(store, user);
}

/** Keeps an attempt that did not end well, or any once there is such a one. */
export function recordAttempt(entry: TaskEntry, attempt: AttemptRecord): void {
  entry.attempts ??= [];
  const newest = entry.attempts.at(-1);
  if (newest?.error !== undefined) {
    const short = { ...newest, error: newest.error.slice(0, LIMITS.oldErrorBytes) };
    entry.attempts[entry.attempts.length - 1] = short;
  }
  entry.attempts.push(attempt);
  if (entry.attempts.length > LIMITS.attemptsKept) entry.attempts.shift();
}

function standInCascade(store: Store, entry: TaskEntry): void {
  if (entry.cascadeAt !== undefined) return;
  entry.cascadeAt = store.now;
  entry.left = entry.dependsOn.length === 0;
  store.cascade.add(entry);
}

/** Runs the steps of ended tasks, oldest first; true when some are left beyond `budget`. */
export function cascade(store: Store, budget: number): boolean {
  let left = budget;
  for (let entry = store.cascade.first(); entry !== undefined; entry = store.cascade.first()) {
    if (left <= 0) return true;
    if (!entry.left) left -= leaveUpstreams(store, entry);
    while (left > 0 && entry.waiting !== undefined) {
      const dependent = entry.waiting.first();
      if (dependent === undefined) {
        entry.waiting = undefined;
        break;
      }
      entry.waiting.delete(dependent);
      tell(store, entry, dependent);
      left--;
    }
    if (entry.waiting !== undefined && entry.waiting.size > 0) return true;
    entry.waiting = undefined;
    store.cascade.delete(entry);
    entry.cascadeAt = undefined;
  }
  return false;
}

/** First part of a cascade: the ended task stops waiting for its own, and reading them. */
function leaveUpstreams(store: Store, entry: TaskEntry): number {
  entry.left = true;
  for (const id of entry.dependsOn) {
    const upstream = store.records.get(id);
    if (entry.blocked?.has(id) === true) {
      upstream?.waiting?.delete(entry);
      upstream?.held?.delete(entry);
      leaveMissing(store, id, entry);
    } else if (upstream !== undefined && entry.state !== 'failed' && !entry.absent?.has(id)) {
      addReader(store, upstream, -1);
    }
  }
  if (entry.state !== 'failed') entry.blocked = undefined;
  return entry.dependsOn.length;
}

function leaveMissing(store: Store, id: string, entry: TaskEntry): void {
  const waiters = store.missing.get(id);
  if (waiters?.delete(entry) === true && waiters.size === 0) store.missing.delete(id);
}

/** Tells one dependent that `upstream` has ended. */
function tell(store: Store, upstream: TaskEntry, dependent: TaskEntry): void {
  if (isEnd(dependent.state)) return;
  switch (policyFor(upstream, dependent)) {
    case 'run':
      satisfy(store, upstream, dependent);
      break;
    case 'wait':
      hold(store, upstream, dependent);
      break;
    case 'cancel':
      end(store, dependent, { state: 'canceled', reason: upstreamReason(upstream) });
      break;
    case 'fail': {
      const reason = upstreamReason(upstream);
      end(store, dependent, { state: 'failed', failureType: 'upstream', reason });
      break;
    }
  }
}

/** What a dependent does about the recorded end state of its upstream. */
export function policyFor(upstream: TaskEntry, dependent: TaskEntry): EdgePolicy {
  if (upstream.state === 'failed') return dependent.edges.onFailure;
  if (upstream.state === 'canceled') return dependent.edges.onCancel;
  return 'run';
}

export function upstreamReason(upstream: TaskEntry): string {
  return `upstream ${upstream.id} ${upstream.state}`;
}

/** The upstream no longer blocks the dependent, which now reads it. */
export function satisfy(store: Store, upstream: TaskEntry, dependent: TaskEntry): void {
  addReader(store, upstream, 1);
  dependent.blocked?.delete(upstream.id);
  if (dependent.blocked === undefined || dependent.blocked.size > 0) return;
  dependent.blocked = undefined;
  dependent.waitUntil = undefined;
  setDeadline(store, dependent);
  if (dependent.state !== 'deferred') return;
  leave(store, dependent);
  enterQueue(store, dependent);
}

/** The dependent waits for a redrive of its upstream, at most 30 days. */
export function hold(store: Store, upstream: TaskEntry, dependent: TaskEntry): void {
  upstream.held ??= new SortedList(byCreation);
  upstream.held.add(dependent);
  waitFor(store, dependent);
}

/** Limits how long a task waits for one that cannot end by itself. */
export function waitFor(store: Store, dependent: TaskEntry): void {
  dependent.waitUntil ??= store.now + LIMITS.waitMaxMs;
  setDeadline(store, dependent);
}

/** Ended tasks with readers stand behind all others, out of retention's way. */
export function addReader(store: Store, entry: TaskEntry, change: number): void {
  const before = entry.readers > 0;
  entry.readers += change;
  const after = entry.readers > 0;
  if (before === after || !isEnd(entry.state)) return;
  const index = store.byState[entry.state];
  index.delete(entry);
  entry.endKey = (entry.endedAt ?? 0) + (after ? HELD : 0);
  index.add(entry);
}
