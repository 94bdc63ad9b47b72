/** The next slot of a schedule after a change. A slot that was due stays due or is counted as missed. */
import type { Logger } from '../base/logger.ts';
import type { ScheduleChange, ScheduleRecord } from '../domain/port/schedule.ts';
import { say } from '../logging/log-events.ts';
import { type KnownSchedule, unfiredText } from './spec.ts';
import { dueSlots } from './timing/catch-up.ts';

/** A stored schedule, and its changed form. */
export interface Replan {
  /** Absent: it is new. */
  readonly before: { readonly record: ScheduleRecord; readonly known: KnownSchedule } | undefined;
  /** Its `next` is ignored. */
  readonly after: ScheduleRecord;
  readonly known: KnownSchedule;
  /** Moment by the backend's clock. */
  readonly now: number;
}

/** A schedule to store, and its dropped slots. */
export interface Replanned {
  readonly change: ScheduleChange;
  readonly missed?: { readonly slot: number; readonly slots: number };
}

/**
 * Due slots that have not fired stay due if the new timing has them too, also through a pause; the
 * others count as missed. Later slots come after this moment.
 */
export function replanned({ before, after, known, now }: Replan): Replanned {
  const { next: _old, ...record } = after;
  const due = dueBefore(before, now);
  const slots = due.slots.filter((slot) => known.all.has(slot));
  const unfired = slots.length === 0 ? undefined : { slots, until: now };
  const [first] = slots;
  const following = known.all.nextMoment(Math.max(now, record.settledSlot ?? now));
  const next = first === undefined ? following : { slot: first, dueAt: known.all.dueAt(first) };
  const change: ScheduleChange = {
    ...record,
    spec: unfiredText(record.spec, unfired),
    ...(record.paused || next === undefined ? {} : { next }),
  };
  const passed = due.passed + due.slots.length - slots.length;
  if (passed === 0) return { change };
  const at = before?.record.next?.slot;
  const slot = due.passed > 0 ? at : due.slots.find((one) => !slots.includes(one));
  return {
    change: { ...change, passed: { slots: passed, ...(at === undefined ? {} : { at }) } },
    missed: { slot: slot ?? now, slots: passed },
  };
}

/** Logs the slots that a change drops. */
export function logDropped(
  log: Logger,
  schedule: string,
  missed: NonNullable<Replanned['missed']>,
): void {
  const message = `schedule ${schedule}: a change drops ${missed.slots} due slots`;
  say(log, 'schedule.missed', message, { schedule, ...missed });
}

function dueBefore(before: Replan['before'], now: number): ReturnType<typeof dueSlots> {
  if (before === undefined) return { slots: [], passed: 0 };
  const { spec, table } = before.known;
  const { next, paused, settledSlot = Number.NEGATIVE_INFINITY } = before.record;
  if (paused) {
    const unfired = spec.unfired?.slots ?? [];
    return { slots: unfired.filter((slot) => slot > settledSlot), passed: 0 };
  }
  return next === undefined
    ? { slots: [], passed: 0 }
    : dueSlots(table, { slot: next.slot, now, cap: spec.cap });
}
