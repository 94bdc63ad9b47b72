import type { ScheduleChange, ScheduleRecord, SlotMoment } from '../../../domain/port/schedule.ts';

/** A schedule as the embedded backend keeps it. */
export interface ScheduleEntry {
  readonly id: string;
  change: ScheduleChange;
  /** While it will fire. Changes only while the entry stands in no index. */
  next: SlotMoment | undefined;
  readonly createdAt: number;
  updatedAt: number;
  fired: number;
  missed: number;
  overlapped: number;
  settledSlot: number | undefined;
  last: ScheduleRecord['last'];
  /** Its newest task, and those before that had not ended then unless it allows overlaps. */
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

/** A schedule as it is first stored: it has fired nothing and no slot is set. */
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

/** What is told of a schedule: what was set last, and what has become of its slots. */
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
