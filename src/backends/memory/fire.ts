import { LIMITS } from '../../domain/limits.ts';
import type { EnqueueReply } from '../../domain/port/backend.ts';
import type {
  FireOutcome,
  FireReply,
  FireRequest,
  Firing,
  OverlapPolicy,
} from '../../domain/port/schedule.ts';
import type { Cause } from '../../domain/task/cause.ts';
import { isEnd, type NewTask } from '../../domain/task/task.ts';
import { cancelOnly } from './admin.ts';
import { enqueueOne } from './enqueue.ts';
import { cascade } from './rules/end.ts';
import { moveOn } from './rules/schedule-places.ts';
import type { ScheduleEntry } from './store/schedule-entry.ts';
import type { Store } from './store/store.ts';

/** See `ScheduleStore.fire`. */
export function fire(store: Store, request: FireRequest): FireReply {
  const entry = store.schedules.get(request.id);
  const isStale =
    entry === undefined ||
    entry.next?.slot !== request.slot ||
    entry.change.revision !== request.revision;
  if (isStale) return { kind: 'stale' };
  if (request.fence < store.scheduler.fence) return { kind: 'superseded' };
  store.isFenced = false;
  store.isFiring = true;
  const overlap = request.catchUp === true ? 'queue' : entry.change.overlap;
  const outcomes = request.firings.map((firing) => fireOne(store, entry, firing, overlap));
  entry.missed += request.passed;
  entry.settledSlot = Math.max(request.slot, request.firings.at(-1)?.slot ?? request.slot);
  moveOn(store, entry, request.next);
  store.isFiring = false;
  cascade(store, LIMITS.cascadeStep);
  return { kind: 'fired', outcomes };
}

/** `queue` is that of missed slots: each waits for the previous one. */
function fireOne(
  store: Store,
  entry: ScheduleEntry,
  { slot, task }: Firing,
  overlap: OverlapPolicy | 'queue',
): FireOutcome {
  const { limit = Number.POSITIVE_INFINITY } = entry.change;
  if (entry.fired >= limit) return { kind: 'over' };
  const active = entry.active.filter((id) => isActive(store, id));
  const [oldest] = active;
  if (oldest !== undefined && isPassedOver(overlap, active)) {
    entry.overlapped++;
    return { kind: 'overlap', id: oldest };
  }
  const canceled =
    overlap === 'cancel-previous'
      ? cancelEarlier(store, active, { type: 'schedule', schedule: entry.change.id, slot })
      : [];
  const left = overlap === 'allow' ? [] : active.filter((id) => isActive(store, id));
  // A task of the schedule's previous user is not waited for, nor read.
  const own = left.filter((id) => store.records.get(id)?.owner.user === task.user);
  const behind = overlap === 'queue' ? own.slice(-1) : own;
  const reply = enqueueOne(store, behind.length === 0 ? task : runAfter(task, behind));
  const outcome = outcomeOf(reply, task, canceled);
  if (outcome.kind === 'refused') entry.missed++;
  if (outcome.kind !== 'created') return outcome;
  entry.fired++;
  entry.last = { slot, id: task.id };
  entry.active = [...left, task.id];
  return outcome;
}

function isActive(store: Store, id: string): boolean {
  const task = store.records.get(id);
  return task !== undefined && !isEnd(task.state);
}

function isPassedOver(overlap: OverlapPolicy | 'queue', active: readonly string[]): boolean {
  return overlap === 'skip' || (overlap === 'queue-one' && active.length > 1);
}

/** Cancels the tasks of earlier slots; answers their ids. */
function cancelEarlier(store: Store, active: readonly string[], cause: Cause): readonly string[] {
  for (const id of active) cancelOnly(store, id, cause);
  return active;
}

/** The same task, started after others, however these end. */
function runAfter(task: NewTask, behind: readonly string[]): NewTask {
  return {
    ...task,
    dependsOn: behind,
    edges: { onFailure: 'run', onCancel: 'run', onMissing: 'satisfied', allowCrossUser: false },
  };
}

function outcomeOf(reply: EnqueueReply, task: NewTask, canceled: readonly string[]): FireOutcome {
  switch (reply.kind) {
    case 'created':
      return { kind: 'created', canceled };
    case 'existing':
      return { kind: 'existing', id: reply.id };
    case 'refused':
      // A task of the same slot with another input has its id: the slot has been fired.
      return reply.refusal.type === 'task-conflict'
        ? { kind: 'existing', id: task.id }
        : { kind: 'refused', refusal: reply.refusal };
  }
}
