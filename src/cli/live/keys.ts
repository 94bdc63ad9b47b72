/** What keys do to the screen of `fairloom top`. */

/** What it shows, in the order of its tabs. */
export const TABS = ['users', 'tasks', 'runs', 'workers', 'dead'] as const;

/** One of them. */
export type Tab = (typeof TABS)[number];

/** By what users are sorted, in the order in which `s` goes through them. */
export const SORTS = ['running', 'queued', 'ahead', 'user'] as const;

/** The column that rows are sorted by. */
export type Sort = (typeof SORTS)[number];

/** What may be done to a row. */
export type Verb = 'cancel' | 'redrive' | 'pause' | 'resume';

/** What a row stands for. */
export interface Target {
  /** In which tab it stands. */
  readonly tab: Tab;
  /** The user, task, run or worker. */
  readonly id: string;
  /** Of a user: where. */
  readonly queue: string | undefined;
  /** What may be done to it. */
  readonly may: readonly Verb[];
}

/** Something to be done. */
export interface Action {
  readonly verb: Verb;
  readonly target: Target;
}

/** What the reader has chosen. */
export interface Screen {
  readonly tab: Tab;
  readonly sort: Sort;
  /** Shown are rows whose names hold it. */
  readonly filter: string;
  /** Keys go into the filter. */
  readonly isTyping: boolean;
  /** The row that keys act on, from 0. */
  readonly cursor: number;
  /** What is to be confirmed. */
  readonly asked: Action | undefined;
  /** What was confirmed with this key. */
  readonly confirmed: Action | undefined;
  readonly isOver: boolean;
}

/** What is shown before any key was pressed. */
export const FIRST_SCREEN: Screen = {
  tab: 'users',
  sort: 'running',
  filter: '',
  isTyping: false,
  cursor: 0,
  asked: undefined,
  confirmed: undefined,
  isOver: false,
};

const INTERRUPT = '\u0003';
const ESCAPE = '\u001b';
const ENTER = ['\r', '\n'];
const ERASE = ['\u007f', '\b'];
const UP = ['k', '\u001b[A', '\u001bOA'];
const DOWN = ['j', '\u001b[B', '\u001bOB'];
const NEXT_TAB = '\t';

/** What keys ask for, where a row allows it. */
const VERBS: Readonly<Record<string, readonly Verb[]>> = {
  c: ['cancel'],
  r: ['redrive'],
  p: ['pause', 'resume'],
};

/** The screen after one key, as a terminal in raw mode sends it, and with it under the cursor what that is. */
export function pressed(before: Screen, key: string, target?: Target): Screen {
  const screen = { ...before, confirmed: undefined };
  if (key === INTERRUPT) return { ...screen, isOver: true };
  if (screen.isTyping) return typed(screen, key);
  if (screen.asked !== undefined) {
    return { ...screen, asked: undefined, confirmed: key === 'y' ? screen.asked : undefined };
  }
  const tab = key === NEXT_TAB ? tabAfter(screen.tab) : TABS[Number(key) - 1];
  if (tab !== undefined) return { ...screen, tab, cursor: 0, filter: '' };
  if (UP.includes(key)) return { ...screen, cursor: Math.max(0, screen.cursor - 1) };
  if (DOWN.includes(key)) return { ...screen, cursor: screen.cursor + 1 };
  const verb = VERBS[key]?.find((one) => target?.may.includes(one));
  if (verb !== undefined && target !== undefined) return { ...screen, asked: { verb, target } };
  if (key === 'q') return { ...screen, isOver: true };
  if (key === '/') return { ...screen, isTyping: true, cursor: 0 };
  if (key === ESCAPE) return { ...screen, filter: '' };
  if (key !== 's' || screen.tab !== 'users') return screen;
  const next = (SORTS.indexOf(screen.sort) + 1) % SORTS.length;
  return { ...screen, sort: SORTS[next] ?? 'running' };
}

function tabAfter(tab: Tab): Tab {
  return TABS[(TABS.indexOf(tab) + 1) % TABS.length] ?? 'users';
}

function typed(screen: Screen, key: string): Screen {
  if (key === ESCAPE) return { ...screen, isTyping: false, filter: '' };
  if (ENTER.includes(key)) return { ...screen, isTyping: false };
  if (ERASE.includes(key)) return { ...screen, filter: [...screen.filter].slice(0, -1).join('') };
  // Arrows and the like are several characters that begin with escape.
  return key.startsWith(ESCAPE) || key < ' ' ? screen : { ...screen, filter: screen.filter + key };
}
