import type { ScheduleChange, ScheduleRecord, SlotMoment } from '../../../domain/port/schedule.ts';

/** A schedule as the embedded backend keeps it. */
export interface ScheduleEntry {
  readonly id: string;
  change: ScheduleChange;
  /** Absent when it is over. Changes only while the entry is in no index. */
  next: SlotMoment | undefined;
  readonly createdAt: number;
  updatedAt: number;
  fired: number;
  missed: number;
  overlapped: number;
  settledSlot: number | undefined;
  last: ScheduleRecord['last'];
  /** Its latest task, and earlier ones that had not ended then unless it allows overlaps. */
  active: readonly string[];
}

/** Names are ASCII. */
export function byName(a: ScheduleEntry, b: ScheduleEntry): number {
  return a.id < b.id ? -1 : a.id > b.id ? 1 : 0;
}

/** Orders by the next slot, then by name. */
export function byMoment(a: ScheduleEntry, b: ScheduleEntry): number {
  return (a.next?.dueAt ?? 0) - (b.next?.dueAt ?? 0) || byName(a, b);
}

/** A new schedule: it has fired nothing and has no slot. */
export function newEntry(change: ScheduleChange, now: number): ScheduleEntry {
  return {
    id: change.id,
    change,
    next: undefined,
    createdAt: now,
    updatedAt: now,
    fired: 0,
    missed: 0,
    overlapped: 0,
    settledSlot: undefined,
    last: undefined,
    active: [],
  };
}

/** A schedule as a record of the port. */
export function recordOf(entry: ScheduleEntry): ScheduleRecord {
  const { createdAt, updatedAt, fired, missed, overlapped, settledSlot, last } = entry;
  const { next: _set, ...change } = entry.change;
  return {
    ...change,
    ...{ createdAt, updatedAt, fired, missed, overlapped },
    ...(entry.next === undefined ? {} : { next: entry.next }),
    ...(settledSlot === undefined ? {} : { settledSlot }),
    ...(last === undefined ? {} : { last }),
  };
}
