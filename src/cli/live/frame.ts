import { counted } from '../terminal/counted.ts';
import type { Style } from '../terminal/style.ts';
import { cellText } from '../terminal/text-table.ts';
import type { TopSnapshot } from '../views/snapshot.ts';
import { type Screen, TABS, type Tab, type Verb } from './keys.ts';
import { chosen, type Listing, matching, tableLines } from './listing.ts';

/** Lines that are no rows: two of figures, the tabs, an empty one, the heading, an empty one, the keys. */
const FRAME_LINES = 7;

/** What there is to show. */
export interface Shown {
  readonly snapshot: TopSnapshot;
  readonly listing: Listing;
  /** What became of the latest action. */
  readonly notice: string | undefined;
}

/** The lines of one frame, at most `rows` of them. */
export function frameLines(
  { snapshot, listing, notice }: Shown,
  screen: Screen,
  rows: number,
  style: Style,
): readonly string[] {
  const items = matching(listing, screen.filter);
  const space = Math.max(1, rows - FRAME_LINES);
  const cursor = chosen(items, screen.cursor);
  const [heading = '', ...lines] = tableLines(listing, items, { cursor, rows: space });
  const found = counted(items.length, NOUNS[screen.tab]);
  const part = items.length > space ? `${space} of ${found}` : found;
  const shown = listing.isCut ? `${part} (there are more)` : part;
  return [
    ...summaryLines(snapshot, style),
    tabLine(screen.tab, style),
    '',
    style.dim(heading),
    ...lines,
    '',
    footer(screen, { shown, notice, may: items[cursor]?.target.may ?? [] }, style),
  ];
}

/** The figures, and all users, without a keyboard. */
export function snapshotLines(
  snapshot: TopSnapshot,
  listing: Listing,
  style: Style,
): readonly string[] {
  const all = { cursor: undefined, rows: Number.MAX_SAFE_INTEGER };
  const [heading = '', ...lines] = tableLines(listing, listing.items, all);
  return [...summaryLines(snapshot, style), '', style.dim(heading), ...lines];
}

/** What the rows of a tab are. */
const NOUNS: Readonly<Record<Tab, string>> = {
  users: 'user',
  tasks: 'task',
  runs: 'run',
  workers: 'worker',
  dead: 'dead letter',
};

/** The keys that ask for them. */
const KEYS: Readonly<Record<Verb, string>> = {
  cancel: 'c',
  redrive: 'r',
  pause: 'p',
  resume: 'p',
};

function tabLine(tab: Tab, style: Style): string {
  const names = TABS.map((name, at) => `${at + 1} ${name}`);
  return names
    .map((name, at) => (TABS[at] === tab ? style.bold(`[${name}]`) : ` ${name} `))
    .join(' ');
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

function footer(
  { tab, sort, filter, isTyping, asked }: Screen,
  {
    shown,
    notice,
    may,
  }: { readonly shown: string; readonly notice: string | undefined; readonly may: readonly Verb[] },
  style: Style,
): string {
  if (isTyping) return `filter: ${cellText(filter)}_`;
  if (asked !== undefined) {
    const { verb, target } = asked;
    return style.bold(`${verb} ${NOUNS[target.tab]} ${cellText(target.id)}?   y yes  any other no`);
  }
  const order = tab === 'users' ? ` by ${sort}` : '';
  const part = filter === '' ? '' : `, filter "${cellText(filter)}"`;
  const sorts = tab === 'users' ? '  s sort' : '';
  const verbs = may.map((verb) => `  ${KEYS[verb]} ${verb}`).join('');
  const said = notice === undefined ? '' : `   ${cellText(notice)}`;
  return `${style.dim(`${shown}${order}${part}   q quit  / filter${sorts}${verbs}`)}${said}`;
}
