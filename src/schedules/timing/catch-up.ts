import { LIMITS } from '../../domain/limits.ts';
import type { MissedPolicy } from '../../domain/port/schedule.ts';
import type { Moment, Timetable } from './timing.ts';

/** State of a due schedule. */
export interface DueFacts {
  /** The first slot that has not fired. */
  readonly slot: number;
  /** Moment by the backend's clock. */
  readonly now: number;
  /** Policy for missed slots. */
  readonly missed: MissedPolicy;
  /** Most missed slots that `all` fires. */
  readonly cap: number;
  /** Most slots to fire now; the others follow in the next call. */
  readonly most: number;
}

/** Slots to fire, and the next one. */
export interface FirePlan {
  /** Slots to fire, in order; at most `LIMITS.scheduleFirings`. */
  readonly fire: readonly number[];
  /** Number of missed slots that are skipped, counted up to {@link COUNTED}. */
  readonly passed: number;
  /** The next slot; it may be due already. */
  readonly next: Moment | undefined;
  /** More than one slot is due, or the first is late: no scheduler ran. */
  readonly isLate: boolean;
}

/** Limit of the count of missed slots. */
const COUNTED = 100;

/**
 * Plans the slots of a schedule up to now. While the first is late by no more than
 * `LIMITS.missedAfterMs` they fire one by one. Beyond that all of them are missed, and the policy
 * decides.
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

/** Due slots that have not fired: the newest ones, and the number of those before. */
export function dueSlots(
  table: Timetable,
  { slot, now, cap }: Pick<DueFacts, 'slot' | 'now' | 'cap'>,
): { readonly slots: readonly number[]; readonly passed: number } {
  if (slot > now) return { slots: [], passed: 0 };
  const most = Math.max(COUNTED, cap);
  const from = newest(table, { slot, now, cap: most });
  return { slots: upTo(table, from, { now, most }), passed: countTo(table, slot, from) };
}

/** Due slots, from a slot on. */
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

/** The last slot that is due, jitter included; the first one is due. */
function lastDue(table: Timetable, slot: number, now: number): number {
  return table.latest(slot, Math.max(slot, now - table.jitterMs));
}

/** Number of slots in [`from`, `to`). */
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

/** The slot after which `cap` slots are left up to now; the first one if there are fewer. */
function newest(table: Timetable, { slot, now, cap }: Pending): number {
  let low = slot;
  let high = now;
  let from = slot;
  for (;;) {
    const slots = upTo(table, from, { now, most: 2 * cap });
    const isFew = slots.length <= cap;
    if (isFew && from === slot) return slot;
    if (!isFew && slots.length < 2 * cap) return slots[slots.length - cap] ?? slot;
    // Too many slots to iterate over: continue in the other half; too few: in half of this one.
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
