import { LIMITS } from '../../../domain/limits.ts';
import type { EventSource, SlotMoment } from '../../../domain/port/schedule.ts';
import { byName, type ScheduleEntry } from '../store/schedule-entry.ts';
import type { Store } from '../store/store.ts';

/** Whether a schedule is due. */
export function areSchedulesDue(store: Store): boolean {
  const next = store.schedulesDue.first()?.next;
  return next !== undefined && next.dueAt <= store.now;
}

/** When a scheduler has to check for due schedules; a retry interval later when they are overdue. */
export function scheduleLookAt(store: Store): number | undefined {
  const dueAt = store.schedulesDue.first()?.next?.dueAt;
  if (dueAt === undefined || dueAt > store.now) return dueAt;
  return store.now + LIMITS.scheduleRetryMs;
}

/** Moves the schedule to its next slot; to none when it is over. */
export function moveOn(store: Store, entry: ScheduleEntry, next: SlotMoment | undefined): void {
  const head = store.schedulesDue.first()?.next?.dueAt ?? Number.POSITIVE_INFINITY;
  if (entry.next !== undefined) store.schedulesDue.delete(entry);
  const { limit = Number.POSITIVE_INFINITY } = entry.change;
  entry.next = entry.fired >= limit ? undefined : next;
  if (entry.next === undefined) return;
  store.schedulesDue.add(entry);
  // Any scheduler may take over at the new least moment: the present owner sleeps longer.
  if (entry.next.dueAt < head && !store.isFiring) store.scheduler.until = 0;
}

/** Schedules that fire at these events, by name. */
export function schedulesOn(store: Store, source: EventSource): readonly ScheduleEntry[] {
  return [...(store.schedulesOn.get(sourcePlace(source)) ?? [])].sort(byName);
}

/** Registers the schedule for the events of its change, unless it is paused, and for no others. */
export function listen(store: Store, entry: ScheduleEntry, before: EventSource | undefined): void {
  if (before !== undefined) leaveEvents(store, entry, before);
  const { on, paused } = entry.change;
  if (on === undefined || paused) return;
  const place = sourcePlace(on);
  const others = store.schedulesOn.get(place) ?? new Set();
  store.schedulesOn.set(place, others.add(entry));
}

/** Unregisters the schedule from these events. */
export function leaveEvents(store: Store, entry: ScheduleEntry, source: EventSource): void {
  const place = sourcePlace(source);
  const listed = store.schedulesOn.get(place);
  listed?.delete(entry);
  if (listed?.size === 0) store.schedulesOn.delete(place);
}

function sourcePlace({ user, event }: EventSource): string {
  return `${user.length}:${user}${event}`;
}
