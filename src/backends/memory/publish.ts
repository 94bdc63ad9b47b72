import { LIMITS } from '../../domain/limits.ts';
import { type EventStart, type PublishReply, refusedStart } from '../../domain/port/event-start.ts';
import type { WaitEvent } from '../../domain/task/wait.ts';
import { enqueueAll } from './enqueue.ts';
import { cascade } from './rules/end.ts';
import { isPublished, publishEvent } from './rules/events.ts';
import { schedulesOn } from './rules/schedule-places.ts';
import { recordOf, type ScheduleEntry } from './store/schedule-entry.ts';
import type { Store } from './store/store.ts';

/** See `WaitStore.publish`. */
export function publish(
  store: Store,
  user: string,
  event: WaitEvent,
  starts: readonly EventStart[],
): PublishReply {
  if (isPublished(store, user, event)) return { kind: 'repeated' };
  const schedules = schedulesOn(store, { user, event: event.name });
  if (!areThese(schedules, starts))
    return { kind: 'schedules', schedules: schedules.map(recordOf) };
  const refused = start(store, schedules, starts);
  if (refused !== undefined) return refused;
  publishEvent(store, user, event);
  cascade(store, LIMITS.cascadeStep);
  return { kind: 'published' };
}

function areThese(schedules: readonly ScheduleEntry[], starts: readonly EventStart[]): boolean {
  const revisions = new Map(starts.map(({ schedule, revision }) => [schedule, revision]));
  return (
    schedules.length === starts.length &&
    schedules.every(({ id, change }) => revisions.get(id) === change.revision)
  );
}

/** Stores the tasks that the event starts; or answers the refusals, and stores nothing. */
function start(
  store: Store,
  schedules: readonly ScheduleEntry[],
  starts: readonly EventStart[],
): PublishReply | undefined {
  const tasks = starts.flatMap(({ task }) => (task === undefined ? [] : [task]));
  if (tasks.length === 0) return undefined;
  store.isFenced = false;
  const replies = enqueueAll(store, tasks);
  const refused = refusedStart(tasks, replies);
  if (refused !== undefined) return refused;
  const made = new Set(replies.flatMap((reply) => (reply.kind === 'created' ? [reply.id] : [])));
  for (const { schedule, task } of starts) {
    const entry = schedules.find(({ id }) => id === schedule);
    if (entry === undefined || task === undefined || !made.has(task.id)) continue;
    entry.fired++;
    entry.last = { slot: store.now, id: task.id };
  }
  return undefined;
}
