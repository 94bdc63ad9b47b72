import { utf8Bytes } from '../../base/json.ts';
import { LIMITS } from '../../domain/limits.ts';
import type { Page, PageRequest, ScheduleStore } from '../../domain/port/backend.ts';
import {
  type DueReply,
  type DueRequest,
  type EventSource,
  type ScheduleChange,
  type ScheduleRecord,
  type ScheduleSetReply,
  scheduleHolder,
} from '../../domain/port/schedule.ts';
import { fire } from './fire.ts';
import { leaveEvents, listen, moveOn, schedulesOn } from './rules/schedule-places.ts';
import { newEntry, recordOf } from './store/schedule-entry.ts';
import { hasSnapshot, holdSnapshot, letGoOfSnapshot } from './store/snapshots.ts';
import type { Store } from './store/store.ts';

type Step = <T>(act: () => T) => Promise<T>;

/** See `ScheduleStore`. */
export function scheduleStore(store: Store, step: Step, look: Step): ScheduleStore {
  return {
    set: (change) => step(() => set(store, change)),
    get: (id) =>
      look(() => {
        const entry = store.schedules.get(id);
        return { record: entry === undefined ? undefined : recordOf(entry), now: store.now };
      }),
    list: (page) => look(() => list(store, page)),
    remove: (id) => step(() => remove(store, id)),
    due: (request) => step(() => due(store, request)),
    fire: (request) => step(() => fire(store, request)),
    leave: (owner) =>
      step(() => {
        if (store.scheduler.owner === owner) store.scheduler.until = 0;
      }),
    lag: () =>
      look(() => Math.max(0, store.now - (store.schedulesDue.first()?.next?.dueAt ?? store.now))),
  };
}

function set(store: Store, { passed, ...change }: ScheduleChange): ScheduleSetReply {
  const known = store.schedules.get(change.id);
  if ((known?.change.revision ?? 0) !== change.revision) return { kind: 'changed' };
  if (
    change.next !== undefined &&
    change.next.slot <= (known?.settledSlot ?? change.next.slot - 1)
  ) {
    return { kind: 'changed' };
  }
  if (passed !== undefined && passed.at !== known?.next?.slot) return { kind: 'changed' };
  const { graph, on } = change;
  if (on !== undefined && !change.paused && isFull(store, change.id, on)) return { kind: 'full' };
  if (graph !== undefined && !hasSnapshot(store, graph)) return { kind: 'graph-missing' };
  const entry = known ?? newEntry(change, store.now);
  const before = known?.change.graph;
  const source = known?.change.on;
  if (graph !== undefined) holdSnapshot(store, graph, scheduleHolder(change.id));
  if (before !== undefined && before !== graph) {
    letGoOfSnapshot(store, before, scheduleHolder(change.id));
  }
  if (known === undefined) {
    store.schedules.set(change.id, entry);
    store.schedulesByName.add(entry);
  }
  entry.change = { ...change, revision: change.revision + 1 };
  entry.updatedAt = store.now;
  entry.missed += passed?.slots ?? 0;
  listen(store, entry, source);
  moveOn(store, entry, change.next);
  return { kind: 'ok', record: recordOf(entry) };
}

function remove(store: Store, id: string): boolean {
  const entry = store.schedules.get(id);
  if (entry === undefined) return false;
  if (entry.next !== undefined) store.schedulesDue.delete(entry);
  store.schedulesByName.delete(entry);
  store.schedules.delete(id);
  const { graph, on } = entry.change;
  if (graph !== undefined) letGoOfSnapshot(store, graph, scheduleHolder(id));
  if (on !== undefined) leaveEvents(store, entry, on);
  return true;
}

/** Whether the most schedules allowed fire at these events already. */
function isFull(store: Store, id: string, on: EventSource): boolean {
  const others = schedulesOn(store, on).filter((entry) => entry.id !== id);
  return others.length >= LIMITS.eventSchedules;
}

function list(store: Store, { limit, cursor }: PageRequest): Page<ScheduleRecord> {
  const all = store.schedulesByName;
  const from = cursor === undefined ? 0 : all.countWhile(({ id }) => id <= cursor);
  const most = Math.min(limit, LIMITS.pageMax);
  const items: ScheduleRecord[] = [];
  let bytes = 0;
  for (const entry of all.from(from)) {
    const isFull = items.length === most || bytes >= LIMITS.pageBytes;
    if (isFull) return { items, cursor: items.at(-1)?.id ?? '' };
    items.push(recordOf(entry));
    bytes += utf8Bytes(entry.change.spec);
  }
  return { items };
}

function due(store: Store, { owner, limit }: DueRequest): DueReply {
  const { scheduler, now } = store;
  const first = store.schedulesDue.first()?.next?.dueAt ?? Number.POSITIVE_INFINITY;
  // A lock that ends later than one taken now is from before the clock was set back.
  const isTaken = scheduler.until > now && scheduler.until <= now + LIMITS.scheduleLockMs;
  const isLocked = scheduler.owner !== owner && isTaken;
  if (isLocked && first > now - LIMITS.scheduleOverdueMs) {
    return { kind: 'locked', until: scheduler.until, now };
  }
  // Without schedules to fire, the lock excludes no scheduler.
  if (store.schedulesDue.size === 0) {
    return { kind: 'granted', fence: scheduler.fence, schedules: [], now };
  }
  if (scheduler.owner !== owner) scheduler.fence++;
  scheduler.owner = owner;
  scheduler.until = now + LIMITS.scheduleLockMs;
  const schedules: ScheduleRecord[] = [];
  let nextDueAt: number | undefined;
  for (const entry of store.schedulesDue) {
    const dueAt = entry.next?.dueAt ?? 0;
    if (dueAt > now || schedules.length === limit) {
      nextDueAt = dueAt;
      break;
    }
    schedules.push(recordOf(entry));
  }
  const reply = { kind: 'granted', fence: scheduler.fence, schedules, now } as const;
  return nextDueAt === undefined ? reply : { ...reply, nextDueAt };
}
