/**
 * What became of the last slots of a schedule. No list of firings is kept: the id of a task says which slot it
 * is of, so those of the last slots are looked up.
 */
import { coreOf, type Fairloom } from '../client/client.ts';
import { firedTaskId } from '../domain/port/schedule.ts';
import type { ScheduleInfo } from '../schedules/schedule-info.ts';
import { Timetable } from '../schedules/timing/timing.ts';
import type { Firing } from './answers.ts';

/** The last slots that were due, oldest first; none of a schedule that fires at events. */
export async function firingsOf(
  loom: Fairloom,
  schedule: ScheduleInfo,
  { count, now }: { readonly count: number; readonly now: number },
): Promise<readonly Firing[]> {
  const slots = slotsBefore(schedule, now, count);
  if (slots.length === 0) return [];
  const { inspect } = await coreOf(loom).connection.open();
  const idOf = (slot: number): string => firedTaskId(schedule.id, slot);
  const found = await inspect.status(slots.map(idOf));
  return slots.map((slot, at) => {
    const state = found[at]?.state;
    return state === undefined ? { slot } : { slot, taskId: idOf(slot), state };
  });
}

/** Those that the schedule, as it is now, has had since it was stored, and that are not still to be fired. */
function slotsBefore(schedule: ScheduleInfo, now: number, count: number): readonly number[] {
  const { id, event, state, createdAt, lastAt = createdAt } = schedule;
  if (event !== undefined) return [];
  // A schedule that is over fires nothing after its last slot, though its pattern goes on.
  const { nextAt = state === 'over' ? lastAt + 1 : Number.POSITIVE_INFINITY } = schedule;
  const table = new Timetable(id, schedule);
  const first = table.next(createdAt);
  const until = Math.min(now, nextAt - 1);
  if (first === undefined || first > until) return [];
  const last = table.latest(first, until);
  const before = last === first ? first : table.latest(first, last - 1);
  // As if all were as far apart as these two; where that finds too few, further back.
  for (let span = (last - before + 1) * count; ; span *= 2) {
    const from = Math.max(first, last - span);
    const slots = slotsIn(table, from, last);
    if (slots.length >= count || from === first) {
      return slots.filter((slot) => table.dueAt(slot) <= now).slice(-count);
    }
  }
}

function slotsIn(table: Timetable, from: number, to: number): readonly number[] {
  const slots: number[] = [];
  for (let slot = table.next(from - 1); slot !== undefined && slot <= to; slot = table.next(slot)) {
    slots.push(slot);
  }
  return slots;
}
