import { startOf } from '../../domain/fairness/fair-share.ts';
import { LIMITS } from '../../domain/limits.ts';
import { hasSurplus } from './rules/remove.ts';
import { resetListClocks, wake, wakeFor } from './rules/workers.ts';
import type { QueueEntry, UserEntry } from './store/entities.ts';
import { forgetLeavers } from './store/leavers.ts';
import { throttle } from './store/ready-index.ts';
import type { Store } from './store/store.ts';
import { nextDueAt } from './tick.ts';

/** Kept for so long in ms, a record outlives its readers' turn, or leases would be lost before. */
const SHORT_MS: number = LIMITS.leaseMs;

/**
 * The last part of every step, after all state has changed: idle queues start anew, users without tasks are
 * forgotten, and only then are waiters woken.
 */
export function endStep(store: Store): void {
  for (const queue of store.touchedQueues) restIfIdle(queue);
  for (const user of store.touchedUsers) forget(store, user);
  for (const queue of store.touchedQueues) {
    const { gain } = queue;
    queue.gain = 0;
    if (gain > 0) wakeFor(store, queue, gain);
  }
  store.untouch();
  setAlarm(store);
  if (store.ended.length > 0) letRead(store, store.now);
  notifyWaiters(store);
}

/**
 * What has ended stays for a moment, however short it is to be kept: those that wait for it, or are
 * about to, read it. A timer fires only when the event loop has let them, however long it was busy.
 */
function letRead(store: Store, at: number): void {
  if (store.reading !== undefined) {
    store.reading.newest = at;
    return;
  }
  if (!mayTakeAtOnce(store)) return;
  const timer = store.clock.setTimer(LIMITS.readMs, () => {
    const { newest } = reading;
    store.reading = undefined;
    if (newest > at) letRead(store, newest);
    store.look();
    if (hasSurplus(store)) wakeForUpkeep(store);
  });
  const reading = { at, newest: at, timer };
  store.reading = reading;
}

/** By age or by number; otherwise a record outlives that moment anyway. */
function mayTakeAtOnce({ retention, leastKeptMs }: Store): boolean {
  if (leastKeptMs > LIMITS.readMs) return false;
  const { finishedMs, finishedCount, failedMs, failedCount, canceledMs, canceledCount } = retention;
  if ((finishedCount ?? failedCount ?? canceledCount) !== undefined) return true;
  return Math.min(finishedMs, failedMs, canceledMs) < SHORT_MS;
}

/**
 * No user is ready, parked or running: virtual time starts at 0, and kept tags are worth nothing, also when it
 * has stood still: a user that entered and was never served may have a seat, or a corrected tag.
 */
function restIfIdle(queue: QueueEntry): void {
  const { clock, counts } = queue;
  if (counts.queued > 0 || counts.started > 0) return;
  clock.v = 0;
  clock.epoch++;
  if (queue.leaving > 0) forgetLeavers(queue);
  resetListClocks(queue);
}

function forget(store: Store, user: UserEntry): void {
  // The usual case: a user with work is not forgotten.
  if (user.live > 0 && user.idleUntil === undefined) return;
  const { queue } = user;
  if (queue.users.get(user.user) !== user) return;
  if (user.live > 0 || user.lists.length > 0 || queue.ownSettings.has(user.user)) {
    setIdle(user, undefined);
    return;
  }
  const until = startOf(user.tag, user.weight);
  const kept = user.epoch === queue.clock.epoch && until > queue.clock.v;
  // A spent rate is remembered too, or a user that drains its line would start with a fresh one.
  const spent = user.tat > store.now && store.settingsOf(user).rate !== undefined;
  setIdle(user, kept ? until : undefined);
  throttle(store, user, spent ? user.tat : undefined);
  if (!kept && !spent) queue.users.delete(user.user);
}

function setIdle(user: UserEntry, until: number | undefined): void {
  if (user.idleUntil === until) return;
  const { idle } = user.queue;
  if (user.idleUntil !== undefined) idle.delete(user);
  user.idleUntil = until;
  if (until !== undefined) idle.add(user);
}

/** One timer for the next due time, while workers wait. */
function setAlarm(store: Store): void {
  if (store.line.size === 0 && store.alarm === undefined) return;
  const queues = new Set([...store.line].flatMap((worker) => worker.spec.queues));
  const at = store.line.size === 0 ? undefined : nextDueAt(store, [...queues]);
  if (store.alarm?.at === at) return;
  store.alarm?.timer.cancel();
  store.alarm = undefined;
  if (at === undefined) return;
  const timer = store.clock.setTimer(Math.max(0, at - store.clock.now()), () => {
    store.alarm = undefined;
    wakeForUpkeep(store);
  });
  store.alarm = { at, timer };
}

/** One of those that wait for work: its lease does what is due first. */
function wakeForUpkeep(store: Store): void {
  const [first] = store.line;
  if (first !== undefined) wake(store, first);
}

function notifyWaiters(store: Store): void {
  if (store.endWaiters.size === 0) {
    store.ended.length = 0;
    return;
  }
  for (const entry of store.ended) {
    const waiters = store.endWaiters.get(entry.id);
    if (waiters === undefined) continue;
    store.endWaiters.delete(entry.id);
    for (const notify of waiters) notify(entry);
  }
  store.ended.length = 0;
}
