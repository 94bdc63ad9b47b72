import type { ReconcileReport } from '../../domain/port/backend.ts';
import { isEnd, TASK_STATES } from '../../domain/task/task.ts';
import type { Lane, TaskEntry } from './store/entities.ts';
import type { Store } from './store/store.ts';

/** Lines of drift that a report holds. */
const REPORTED = 100;

/**
 * Checks every index against the records. There is one process and one owner, so drift here is a
 * bug of the backend: it is reported, never mended behind anybody's back.
 */
export function reconcile(store: Store): ReconcileReport {
  const drift: string[] = [];
  for (const entry of store.records.values()) {
    const problem = misplaced(store, entry);
    if (problem !== undefined) drift.push(`${entry.id}: ${problem}`);
  }
  for (const lane of store.lanes.values()) drift.push(...driftOf(store, lane));
  for (const schedule of store.schedules.values()) {
    const isDue = store.schedulesDue.has(schedule);
    if (isDue === (schedule.next !== undefined)) continue;
    drift.push(`schedule ${schedule.id}: not in its index`);
  }
  return { drift: drift.slice(0, REPORTED), checked: store.records.size, repaired: 0 };
}

function misplaced(store: Store, entry: TaskEntry): string | undefined {
  const user = entry.owner;
  if (user.lane.users.get(user.user) !== user && !isEnd(entry.state)) return 'its user is gone';
  if (entry.rare.parkedUntil !== undefined) {
    return user.lane.parked.has(entry) ? undefined : 'queued, but not among the parked';
  }
  if (entry.state === 'queued') {
    return user.level(entry.level).has(entry) ? undefined : 'queued, but not in line';
  }
  const index = isEnd(entry.state)
    ? store.endedIndex(entry, entry.state)
    : store.byState[entry.state];
  if (!index.has(entry)) return `${entry.state}, but not in its index`;
  return undefined;
}

function driftOf(store: Store, lane: Lane): string[] {
  const drift: string[] = [];
  const counted = Object.fromEntries(TASK_STATES.map((state) => [state, 0]));
  for (const entry of store.records.values()) {
    if (entry.owner.lane === lane) counted[entry.state] = (counted[entry.state] ?? 0) + 1;
  }
  for (const state of TASK_STATES) {
    if (counted[state] !== lane.counts[state]) {
      drift.push(
        `queue ${lane.queue}: ${lane.counts[state]} ${state} counted, ${counted[state]} stored`,
      );
    }
  }
  let weights = 0;
  let runnable = 0;
  let running = 0;
  for (const user of lane.users.values()) {
    running += user.running;
    if (!user.ready) continue;
    weights += user.weight;
    runnable += user.contribution;
  }
  if (weights !== lane.clock.w)
    drift.push(`queue ${lane.queue}: W is ${lane.clock.w}, not ${weights}`);
  if (runnable !== lane.runnable) {
    drift.push(`queue ${lane.queue}: runnable is ${lane.runnable}, not ${runnable}`);
  }
  if (running !== lane.counts.started) {
    drift.push(`queue ${lane.queue}: its users run ${running}, not ${lane.counts.started}`);
  }
  return drift;
}
