/** Lengths of time and moments, as people read them. */

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const THIN = '\u202f';

/** `8.1 s`, `6 m 02 s`, `3 h 11 m`, `2 d 4 h`. */
export function lengthText(ms: number | undefined): string {
  if (ms === undefined) return '–';
  const length = Math.max(0, ms);
  if (length < SECOND) return `${Math.round(length)}${THIN}ms`;
  if (length < 10 * SECOND) return `${(length / SECOND).toFixed(1)}${THIN}s`;
  if (length < MINUTE) return `${Math.round(length / SECOND)}${THIN}s`;
  if (length < 10 * MINUTE) return pair(length, [MINUTE, 'm'], [SECOND, 's']);
  if (length < HOUR) return `${Math.round(length / MINUTE)}${THIN}m`;
  if (length < 10 * HOUR) return pair(length, [HOUR, 'h'], [MINUTE, 'm']);
  if (length < 2 * DAY) return `${Math.round(length / HOUR)}${THIN}h`;
  if (length < 7 * DAY) return pair(length, [DAY, 'd'], [HOUR, 'h']);
  return `${Math.round(length / DAY)}${THIN}d`;
}

/** `3 m ago`, or `in 3 m`. */
export function agoText(at: number, now: number): string {
  return at <= now ? `${lengthText(now - at)} ago` : `in ${lengthText(at - now)}`;
}

/** `13:24:51`, with the day where it is another one than today. */
export function momentText(at: number, now: number): string {
  const date = new Date(at);
  const time = date.toLocaleTimeString('en-GB');
  const isToday = date.toDateString() === new Date(now).toDateString();
  return isToday ? time : `${dayText(at)} ${time}`;
}

/** `29 Nov 2026, 13:24:51.112`, for those who look closer. */
export function exactText(at: number): string {
  const ms = String(at % SECOND).padStart(3, '0');
  return `${dayText(at)} ${new Date(at).getFullYear()}, ${new Date(at).toLocaleTimeString('en-GB')}.${ms}`;
}

/** The zone in which moments are shown. */
export function zoneText(): string {
  return Intl.DateTimeFormat().resolvedOptions().timeZone;
}

function dayText(at: number): string {
  return new Date(at).toLocaleDateString('en-GB', { day: 'numeric', month: 'short' });
}

type Unit = readonly [ms: number, name: string];

function pair(length: number, [big, bigName]: Unit, [small, smallName]: Unit): string {
  const total = Math.round(length / small);
  const per = big / small;
  const rest = String(total % per).padStart(2, '0');
  return `${Math.floor(total / per)}${THIN}${bigName} ${rest}${THIN}${smallName}`;
}
