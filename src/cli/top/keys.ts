/** What keys do to the screen of `fairloom top`. */

/** By what users are sorted, in the order in which `s` goes through them. */
export const SORTS = ['running', 'queued', 'ahead', 'user'] as const;

/** The column that rows are sorted by. */
export type Sort = (typeof SORTS)[number];

/** What the reader has chosen. */
export interface Screen {
  readonly sort: Sort;
  /** Shown are users whose names hold it. */
  readonly filter: string;
  /** Keys go into the filter. */
  readonly isTyping: boolean;
  readonly isOver: boolean;
}

/** What is shown before any key was pressed. */
export const FIRST_SCREEN: Screen = {
  sort: 'running',
  filter: '',
  isTyping: false,
  isOver: false,
};

const INTERRUPT = '\u0003';
const ESCAPE = '\u001b';
const ENTER = ['\r', '\n'];
const ERASE = ['\u007f', '\b'];

/** The screen after one key, as a terminal in raw mode sends it. */
export function pressed(screen: Screen, key: string): Screen {
  if (key === INTERRUPT) return { ...screen, isOver: true };
  if (screen.isTyping) return typed(screen, key);
  if (key === 'q') return { ...screen, isOver: true };
  if (key === '/') return { ...screen, isTyping: true };
  if (key === ESCAPE) return { ...screen, filter: '' };
  if (key !== 's') return screen;
  const next = (SORTS.indexOf(screen.sort) + 1) % SORTS.length;
  return { ...screen, sort: SORTS[next] ?? 'running' };
}

function typed(screen: Screen, key: string): Screen {
  if (key === ESCAPE) return { ...screen, isTyping: false, filter: '' };
  if (ENTER.includes(key)) return { ...screen, isTyping: false };
  if (ERASE.includes(key)) return { ...screen, filter: [...screen.filter].slice(0, -1).join('') };
  // Arrows and the like are several characters that begin with escape.
  return key.startsWith(ESCAPE) || key < ' ' ? screen : { ...screen, filter: screen.filter + key };
}
