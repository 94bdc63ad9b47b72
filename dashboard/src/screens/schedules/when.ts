/** When a schedule fires. */
import type { ScheduleInfo } from '../../api/shapes.ts';
import { lengthText } from '../../words/lengths.ts';

/** Its pattern and zone, its period, or its event. */
export function whenText({ cron, timeZone, everyMs, event, key }: ScheduleInfo): string {
  if (cron !== undefined) return timeZone === undefined ? cron : `${cron} in ${timeZone}`;
  if (everyMs !== undefined) return `every ${lengthText(everyMs)}`;
  return key === undefined ? `at ${event ?? ''}` : `at ${event ?? ''} of ${key}`;
}
