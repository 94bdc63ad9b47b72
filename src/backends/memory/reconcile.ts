import type { ReconcileReport } from '../../domain/port/backend.ts';
import { isEnd, TASK_STATES } from '../../domain/task/task.ts';
import { schedulesOn } from './rules/schedule-places.ts';
import type { QueueEntry, TaskEntry } from './store/entities.ts';
import type { ScheduleEntry } from './store/schedule-entry.ts';
import type { Store } from './store/store.ts';

/** Most lines of drift in a report. */
const REPORTED = 100;

/**
 * Checks every index against the records. One process owns them, so drift here is a bug of the
 * backend: it is reported, never repaired silently.
 */
export function reconcile(store: Store): ReconcileReport {
  const drift: string[] = [];
  for (const entry of store.records.values()) {
    const problem = misplaced(store, entry);
    if (problem !== undefined) drift.push(`${entry.id}: ${problem}`);
  }
  for (const queue of store.queues.values()) drift.push(...driftOf(store, queue));
  for (const schedule of store.schedules.values()) {
    const isDue = store.schedulesDue.has(schedule);
    if (isDue === (schedule.next !== undefined) && isListening(store, schedule)) continue;
    drift.push(`schedule ${schedule.id}: not in its index`);
  }
  return { drift: drift.slice(0, REPORTED), checked: store.records.size, repaired: 0 };
}

/** Whether it is registered for its events, if it fires at any. */
function isListening(store: Store, entry: ScheduleEntry): boolean {
  const { on, paused } = entry.change;
  return on === undefined || schedulesOn(store, on).includes(entry) !== paused;
}

function misplaced(store: Store, entry: TaskEntry): string | undefined {
  const user = entry.owner;
  if (user.queue.users.get(user.user) !== user && !isEnd(entry.state)) return 'its user is gone';
  if (entry.optional.parkedUntil !== undefined) {
    return user.queue.parked.has(entry) ? undefined : 'queued, but not among the parked';
  }
  if (entry.state === 'queued') {
    return user.level(entry.level).has(entry) ? undefined : 'queued, but not in line';
  }
  const index = isEnd(entry.state)
    ? store.endedIndex(entry, entry.state)
    : store.byState[entry.state];
  if (!index.has(entry)) return `${entry.state}, but not in its index`;
  if (entry.state === 'failed' && !store.failures.has(entry)) {
    return 'failed, but in no index of failures';
  }
  return undefined;
}

function driftOf(store: Store, queue: QueueEntry): string[] {
  const drift: string[] = [];
  const counted = Object.fromEntries(TASK_STATES.map((state) => [state, 0]));
  for (const entry of store.records.values()) {
    if (entry.owner.queue === queue) counted[entry.state] = (counted[entry.state] ?? 0) + 1;
  }
  for (const state of TASK_STATES) {
    if (counted[state] !== queue.counts[state]) {
      drift.push(
        `queue ${queue.queue}: ${queue.counts[state]} ${state} counted, ${counted[state]} stored`,
      );
    }
  }
  let weights = 0;
  let leaving = 0;
  let runnable = 0;
  let running = 0;
  for (const user of queue.users.values()) {
    running += user.running;
    if (user.leavingIn === queue.clock.epoch) leaving += user.weight;
    if (!user.ready) continue;
    weights += user.weight;
    runnable += user.headroom;
  }
  if (leaving !== queue.leaving) {
    drift.push(`queue ${queue.queue}: ${queue.leaving} of W has left, not ${leaving}`);
  }
  if (weights !== queue.clock.w)
    drift.push(`queue ${queue.queue}: W is ${queue.clock.w}, not ${weights}`);
  if (runnable !== queue.runnable) {
    drift.push(`queue ${queue.queue}: runnable is ${queue.runnable}, not ${runnable}`);
  }
  if (running !== queue.counts.started) {
    drift.push(`queue ${queue.queue}: its users run ${running}, not ${queue.counts.started}`);
  }
  return drift;
}
