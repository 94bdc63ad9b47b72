import { startOf } from '../../domain/fairness/fair-share.ts';
import { LIMITS } from '../../domain/limits.ts';
import { hasSurplus } from './rules/remove.ts';
import { resetListClocks, wake, wakeFor } from './rules/workers.ts';
import type { QueueEntry, UserEntry } from './store/entities.ts';
import { forgetLeavers } from './store/leavers.ts';
import { throttle } from './store/ready-index.ts';
import type { Store } from './store/store.ts';
import { nextDueAt } from './tick.ts';

/** Least retention in ms: a record kept this long outlives its readers' turn, or leases would be lost before. */
const SHORT_MS: number = LIMITS.leaseMs;

/**
 * The last part of every step, after all changes of state: resets idle queues, drops users without
 * tasks, and only then wakes waiters.
 */
export function endStep(store: Store): void {
  for (const queue of store.touchedQueues) resetIfIdle(queue);
  for (const user of store.touchedUsers) forget(store, user);
  for (const queue of store.touchedQueues) {
    const { gain } = queue;
    queue.gain = 0;
    if (gain > 0) wakeFor(store, queue, gain);
  }
  store.untouch();
  setAlarm(store);
  if (store.ended.length > 0) keepForReaders(store, store.now);
  notifyWaiters(store);
}

/**
 * Ended tasks are kept for a moment, however short their retention: dependents and waiters read
 * them. The timer fires only after they could, however long the event loop was busy.
 */
function keepForReaders(store: Store, at: number): void {
  if (store.reading !== undefined) {
    store.reading.newest = at;
    return;
  }
  if (!mayRemoveSoon(store)) return;
  const timer = store.clock.setTimer(LIMITS.readMs, () => {
    const { newest } = reading;
    store.reading = undefined;
    if (newest > at) keepForReaders(store, newest);
    store.look();
    if (hasSurplus(store)) wakeForUpkeep(store);
  });
  const reading = { at, newest: at, timer };
  store.reading = reading;
}

/** Whether retention by age or by number may remove a record within that moment. */
function mayRemoveSoon({ retention, leastKeptMs }: Store): boolean {
  if (leastKeptMs > LIMITS.readMs) return false;
  const { finishedMs, finishedCount, failedMs, failedCount, canceledMs, canceledCount } = retention;
  if ((finishedCount ?? failedCount ?? canceledCount) !== undefined) return true;
  return Math.min(finishedMs, failedMs, canceledMs) < SHORT_MS;
}

/**
 * No user is ready, parked or running: virtual time restarts at 0, and kept tags count as none, even if it
 * has not moved: a user that entered and was never served may have a seat, or a corrected tag.
 */
function resetIfIdle(queue: QueueEntry): void {
  const { clock, counts } = queue;
  if (counts.queued > 0 || counts.started > 0) return;
  clock.v = 0;
  clock.epoch++;
  if (queue.leaving > 0) forgetLeavers(queue);
  resetListClocks(queue);
}

function forget(store: Store, user: UserEntry): void {
  // The common case: a user with work is kept.
  if (user.live > 0 && user.idleUntil === undefined) return;
  const { queue } = user;
  if (queue.users.get(user.user) !== user) return;
  if (user.live > 0 || user.lists.length > 0 || queue.ownSettings.has(user.user)) {
    setIdle(user, undefined);
    return;
  }
  const until = startOf(user.tag, user.weight);
  const kept = user.epoch === queue.clock.epoch && until > queue.clock.v;
  // A user with a spent rate is kept too, or draining its line would reset the rate.
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

/** Wakes a waiting worker: its lease does due maintenance first. */
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
