import type { ScheduleInfo } from '../../schedules/schedule-info.ts';
import { shownLength, shownMoment } from '../terminal/moments.ts';
import type { View } from '../terminal/output.ts';
import type { Style } from '../terminal/style.ts';
import { cellText } from '../terminal/text-table.ts';

/** Schedules, with moments as seen from `now` (ms since the epoch). */
export function scheduleView(now: number): View<ScheduleInfo> {
  return {
    columns: (style) => [
      { title: 'ID', cell: ({ id }) => id },
      { title: 'TASK', cell: ({ task }) => task },
      { title: 'WHEN', cell: (schedule) => cellText(whenText(schedule)) },
      { title: 'USER', cell: ({ user }) => cellText(user) },
      { title: 'STATE', cell: ({ state }) => stateText(state, style) },
      { title: 'NEXT', cell: ({ nextAt }) => momentText(nextAt, now) },
      { title: 'LAST', cell: ({ lastAt }) => momentText(lastAt, now) },
      { title: 'FIRED', cell: ({ fired }) => String(fired), align: 'right' },
      { title: 'MISSED', cell: ({ missedSlots }) => String(missedSlots), align: 'right' },
    ],
    json: (schedule) => schedule,
    id: ({ id }) => id,
    none: 'no schedules',
  };
}

function whenText({ event, key, cron, timeZone, everyMs = 0 }: ScheduleInfo): string {
  if (event !== undefined) return `at ${event}${key === undefined ? '' : ` of ${key}`}`;
  return cron === undefined ? `every ${shownLength(everyMs)}` : `${cron} ${timeZone ?? ''}`.trim();
}

function stateText(state: ScheduleInfo['state'], style: Style): string {
  return state === 'paused' ? style.yellow(state) : state;
}

function momentText(at: number | undefined, now: number): string {
  return at === undefined ? '' : shownMoment(at, now);
}
