import { counted } from '../terminal/counted.ts';
import { shownLength } from '../terminal/moments.ts';
import type { Style } from '../terminal/style.ts';
import { type Column, cellText, textTable } from '../terminal/text-table.ts';
import type { Screen, Sort } from './keys.ts';
import type { TimedUser } from './recent-starts.ts';
import type { TopSnapshot } from './snapshot.ts';

/** Lines that are no users: two of figures, an empty one, the heading, an empty one, the keys. */
const FRAME_LINES = 6;

/** The lines of one frame, at most `rows` of them. */
export function frameLines(
  snapshot: TopSnapshot,
  screen: Screen,
  rows: number,
  style: Style,
): readonly string[] {
  const users = chosenUsers(snapshot.users, screen);
  const rowsFree = Math.max(1, rows - FRAME_LINES);
  const [heading = '', ...lines] = textTable(users.slice(0, rowsFree), columns(style));
  return [
    ...summaryLines(snapshot, style),
    '',
    style.dim(heading),
    ...lines,
    '',
    footer(screen, shownOf(users.length, rowsFree, snapshot.isCut), style),
  ];
}

/** Users that pass the filter, in the order that was chosen; equals by name. */
export function chosenUsers(users: readonly TimedUser[], screen: Screen): readonly TimedUser[] {
  return users
    .filter(({ user }) => user.includes(screen.filter))
    .sort((one, other) => compare(screen.sort, one, other) || byName(one, other));
}

function compare(sort: Sort, one: TimedUser, other: TimedUser): number {
  switch (sort) {
    case 'running':
      return other.running - one.running || other.queued - one.queued;
    case 'queued':
      return other.queued - one.queued;
    case 'ahead':
      return one.ahead - other.ahead;
    case 'user':
      return byName(one, other);
  }
}

function byName(one: TimedUser, other: TimedUser): number {
  if (one.user !== other.user) return one.user < other.user ? -1 : 1;
  return one.queue < other.queue ? -1 : 1;
}

function summaryLines(of: TopSnapshot, style: Style): readonly string[] {
  const rate = of.perSecond === undefined ? '' : `, ${of.perSecond.toFixed(1)} ended per second`;
  const workers = counted(of.workers, 'worker');
  const dead = `${of.dead} dead`;
  return [
    style.bold(`${of.running} of ${of.slots} slots in use on ${workers}${rate}`),
    `${of.queued} in line, ${of.scheduled} scheduled, ${of.deferred} waiting for others, ${
      of.dead > 0 ? style.red(dead) : dead
    }`,
  ];
}

function columns(style: Style): readonly Column<TimedUser>[] {
  return [
    { title: 'USER', cell: ({ user }) => cellText(user) },
    { title: 'QUEUE', cell: ({ queue }) => queue },
    { title: 'WEIGHT', cell: ({ weight }) => String(weight), align: 'right' },
    { title: 'IN LINE', cell: ({ queued }) => String(queued), align: 'right' },
    { title: 'RUNNING', cell: ({ running }) => String(running), align: 'right' },
    { title: 'SHARE', cell: ({ share }) => percent(share), align: 'right' },
    { title: 'FAIR', cell: ({ fairShare }) => percent(fairShare), align: 'right' },
    { title: 'AHEAD', cell: ({ ahead }) => ahead.toFixed(1), align: 'right' },
    { title: 'WAIT P95', cell: ({ waitP95Ms }) => length(waitP95Ms), align: 'right' },
    { title: 'LINE OVER', cell: ({ etaMs }) => length(etaMs), align: 'right' },
    { title: 'WHY', cell: ({ why }) => (why === 'in line' ? style.green(why) : why) },
  ];
}

function shownOf(found: number, rowsFree: number, isCut: boolean): string {
  const users =
    found > rowsFree ? `${rowsFree} of ${counted(found, 'user')}` : counted(found, 'user');
  return isCut ? `${users} (there are more)` : users;
}

function footer(screen: Screen, shown: string, style: Style): string {
  if (screen.isTyping) return `filter: ${cellText(screen.filter)}_`;
  const filter = screen.filter === '' ? '' : `, filter "${cellText(screen.filter)}"`;
  return style.dim(`${shown} by ${screen.sort}${filter}   q quit  / filter  s sort`);
}

function length(ms: number | undefined): string {
  return ms === undefined ? '–' : shownLength(ms);
}

function percent(part: number | undefined): string {
  return part === undefined ? '–' : `${(part * 100).toFixed(1)} %`;
}
