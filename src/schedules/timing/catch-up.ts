import { LIMITS } from '../../domain/limits.ts';
import type { MissedPolicy } from '../../domain/port/schedule.ts';
import type { Moment, Timetable } from './timing.ts';

/** What a schedule that is due knows of itself. */
export interface DueFacts {
  /** The least slot that was not fired. */
  readonly slot: number;
  /** What the backend's clock shows. */
  readonly now: number;
  /** What to do with slots that were missed. */
  readonly missed: MissedPolicy;
  /** Most missed slots that `all` fires. */
  readonly cap: number;
  /** Most slots to fire now; the rest comes next. */
  readonly most: number;
}

/** What to do about a schedule that is due. */
export interface FirePlan {
  /** Slots to fire, in order; at most `LIMITS.scheduleFirings`. */
  readonly fire: readonly number[];
  /** Slots that are passed over: they were missed. Counted up to {@link COUNTED}. */
  readonly passed: number;
  /** What comes next; it may be due already. */
  readonly next: Moment | undefined;
  /** More than one slot is due, or the first is late: schedulers were away. */
  readonly isLate: boolean;
}

/** Missed slots are counted no further. */
const COUNTED = 100;

/**
 * What becomes of the slots of a schedule up to now. While the first of them is late by no more
 * than `LIMITS.missedAfterMs` they are fired one by one. Later than that, all of them are what was
 * missed, and the schedule's policy decides.
 */
export function planDue(table: Timetable, facts: DueFacts): FirePlan {
  const { slot, now, missed, cap, most } = facts;
  if (now - table.dueAt(slot) <= LIMITS.missedAfterMs) return each(table, slot, { now, most });
  switch (missed) {
    case 'all': {
      const from = newest(table, { slot, now: lastDue(table, slot, now), cap });
      const plan = each(table, from, { now, most });
      return { ...plan, passed: countTo(table, slot, from), isLate: true };
    }
    case 'one':
    case 'skip': {
      const last = lastDue(table, slot, now);
      const fire = missed === 'one' ? [last] : [];
      const passed = countTo(table, slot, last) + (missed === 'one' ? 0 : 1);
      return { fire, passed, next: table.nextMoment(last), isLate: true };
    }
  }
}

/** Slots that were due and were not fired: the newest, and how many come before them. */
export function dueSlots(
  table: Timetable,
  { slot, now, cap }: Pick<DueFacts, 'slot' | 'now' | 'cap'>,
): { readonly slots: readonly number[]; readonly passed: number } {
  if (slot > now) return { slots: [], passed: 0 };
  const most = Math.max(COUNTED, cap);
  const from = newest(table, { slot, now, cap: most });
  return { slots: upTo(table, from, { now, most }), passed: countTo(table, slot, from) };
}

/** Slots that are due, from a slot on. */
function each(
  table: Timetable,
  from: number,
  { now, most }: Pick<DueFacts, 'now' | 'most'>,
): FirePlan {
  const fire = [from];
  let next = table.nextMoment(from);
  const mostFired = Math.min(most, LIMITS.scheduleFirings);
  while (next !== undefined && next.dueAt <= now && fire.length < mostFired) {
    fire.push(next.slot);
    next = table.nextMoment(next.slot);
  }
  return { fire, passed: 0, next, isLate: fire.length > 1 };
}

/** The last slot that is due with any jitter; the first one is due. */
function lastDue(table: Timetable, slot: number, now: number): number {
  return table.latest(slot, Math.max(slot, now - table.jitterMs));
}

/** How many slots lie in [`from`, `to`). */
function countTo(table: Timetable, from: number, to: number): number {
  let count = 0;
  for (let slot: number | undefined = from; slot !== undefined && slot < to; count++) {
    if (count >= COUNTED) break;
    slot = table.next(slot);
  }
  return count;
}

interface Pending {
  readonly slot: number;
  readonly now: number;
  readonly cap: number;
}

/** The slot from which on `cap` slots are left up to now; the first one when there are fewer. */
function newest(table: Timetable, { slot, now, cap }: Pending): number {
  let low = slot;
  let high = now;
  let from = slot;
  for (;;) {
    const slots = upTo(table, from, { now, most: 2 * cap });
    const isFew = slots.length <= cap;
    if (isFew && from === slot) return slot;
    if (!isFew && slots.length < 2 * cap) return slots[slots.length - cap] ?? slot;
    // Too many to walk over: the other half; too few: half of the half.
    if (isFew) high = from;
    else low = from;
    const middle = table.next(Math.floor((low + high) / 2));
    if (middle === undefined || middle >= high || middle > now || middle === from) {
      return slots[Math.max(0, slots.length - cap)] ?? slot;
    }
    from = middle;
  }
}

function upTo(
  table: Timetable,
  from: number,
  { now, most }: { readonly now: number; readonly most: number },
): readonly number[] {
  const slots: number[] = [];
  for (let slot: number | undefined = from; slot !== undefined && slot <= now; ) {
    slots.push(slot);
    if (slots.length === most) break;
    slot = table.next(slot);
  }
  return slots;
}
