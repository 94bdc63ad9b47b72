/**
 * A cron pattern as a question about one minute of a calendar. Written for the oracle alone: it
 * shares nothing with what it is to check.
 */

/** One minute that a wall clock shows. */
export interface WallMinute {
  readonly year: number;
  /** 1 to 12. */
  readonly month: number;
  readonly day: number;
  readonly hour: number;
  readonly minute: number;
  /** 0 is Sunday. */
  readonly weekday: number;
}

/** A pattern, read. */
export interface ReadPattern {
  /** Seconds within a minute that matches, in order. */
  readonly seconds: readonly number[];
  matches(wall: WallMinute): boolean;
}

const NICKNAMES: Readonly<Record<string, string>> = {
  '@hourly': '0 * * * *',
  '@daily': '0 0 * * *',
  '@weekly': '0 0 * * 0',
  '@monthly': '0 0 1 * *',
};

const MONTHS = ['JAN', 'FEB', 'MAR', 'APR', 'MAY', 'JUN', 'JUL', 'AUG', 'SEP', 'OCT', 'NOV', 'DEC'];
const DAYS = ['SUN', 'MON', 'TUE', 'WED', 'THU', 'FRI', 'SAT'];

/** Reads a pattern of 5 or 6 fields, or a nickname. */
export function readPattern(text: string): ReadPattern {
  const fields = (NICKNAMES[text] ?? text).split(' ');
  const [second = '', minute = '', hour = '', day = '', month = '', weekday = ''] =
    fields.length === 6 ? fields : ['0', ...fields];
  const minutes = new Set(numbers(minute, 0, 59));
  const hours = new Set(numbers(hour, 0, 23));
  const months = new Set(numbers(named(month, MONTHS, 1), 1, 12));
  const onDay = dayTest(day);
  const onWeekday = weekdayTest(named(weekday, DAYS, 0));
  const isEither = day !== '*' && weekday !== '*';
  return {
    seconds: numbers(second, 0, 59),
    matches: (wall) => {
      if (!minutes.has(wall.minute) || !hours.has(wall.hour) || !months.has(wall.month))
        return false;
      const [a, b] = [onDay(wall), onWeekday(wall)];
      return isEither ? a || b : a && b;
    },
  };
}

function dayTest(field: string): (wall: WallMinute) => boolean {
  if (field === 'L') return (wall) => wall.day === lastDay(wall);
  const days = new Set(numbers(field, 1, 31));
  return ({ day }) => days.has(day);
}

function weekdayTest(field: string): (wall: WallMinute) => boolean {
  const [, nth, which] = /^(\d)#(\d)$/.exec(field) ?? [];
  if (nth !== undefined) {
    return ({ weekday, day }) =>
      weekday === Number(nth) % 7 && Math.ceil(day / 7) === Number(which);
  }
  const [, last] = /^(\d)L$/.exec(field) ?? [];
  if (last !== undefined) {
    return (wall) => wall.weekday === Number(last) % 7 && wall.day + 7 > lastDay(wall);
  }
  const days = new Set(numbers(field, 0, 7).map((day) => day % 7));
  return ({ weekday }) => days.has(weekday);
}

function lastDay({ year, month }: WallMinute): number {
  return new Date(Date.UTC(year, month, 0)).getUTCDate();
}

function named(field: string, names: readonly string[], first: number): string {
  return field.replaceAll(/[A-Z]{3}/g, (name) => String(names.indexOf(name) + first));
}

function numbers(field: string, least: number, most: number): readonly number[] {
  const found = new Set<number>();
  for (const part of field.split(',')) {
    const [range = '', step = '1'] = part.split('/');
    const [from = '', to = from] = range === '*' ? [String(least), String(most)] : range.split('-');
    for (let one = Number(from); one <= Number(to); one += Number(step)) found.add(one);
  }
  return [...found].sort((a, b) => a - b);
}
