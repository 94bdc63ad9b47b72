/** Filters of tasks with a name: kept in this browser, for this mount of the page. */
import { signal } from '@preact/signals';
import { keep, kept } from './storage.ts';

/** A filter with a name. */
export interface SavedView {
  readonly name: string;
  readonly where: string;
}

/** So many are kept; a name and a filter have so many characters. */
export const VIEW_BOUNDS = { views: 50, name: 60, where: 4_000 } as const;

/** Two mounts on one host have their own. */
const KEY = `fairloom.views:${new URL('.', document.baseURI).pathname}`;

/** By name. */
export const views = signal<readonly SavedView[]>(read());

addEventListener('storage', ({ key }) => {
  if (key === KEY || key === null) views.value = read();
});

/** Keeps a filter under a name, in place of another of that name; the answer says why it is not kept. */
export function saveView(name: string, where: string): string | undefined {
  const view = { name: name.trim(), where };
  if (view.name === '') return 'A view needs a name';
  if (!isView(view)) return 'The name or the filter is too long';
  // Another tab may have changed them.
  const others = read().filter((one) => one.name !== view.name);
  if (others.length >= VIEW_BOUNDS.views) {
    return `There are ${VIEW_BOUNDS.views} views already: forget one first`;
  }
  return write([...others, view]) ? undefined : 'This browser keeps nothing for this page';
}

/** Forgets one. */
export function forgetView(name: string): void {
  write(read().filter((one) => one.name !== name));
}

function write(next: readonly SavedView[]): boolean {
  const sorted = [...next].sort((a, b) => (a.name < b.name ? -1 : 1));
  if (!keep('browser', KEY, JSON.stringify(sorted))) return false;
  views.value = sorted;
  return true;
}

/** What is kept may be anything by now. */
function read(): readonly SavedView[] {
  try {
    const found: unknown = JSON.parse(kept('browser', KEY) ?? '[]');
    if (!Array.isArray(found)) return [];
    const byName = new Map(found.filter(isView).map((view) => [view.name, view]));
    return [...byName.values()].slice(0, VIEW_BOUNDS.views);
  } catch {
    return [];
  }
}

function isView(value: unknown): value is SavedView {
  if (typeof value !== 'object' || value === null) return false;
  const { name, where }: { name?: unknown; where?: unknown } = value;
  return isText(name, VIEW_BOUNDS.name) && isText(where, VIEW_BOUNDS.where);
}

function isText(value: unknown, most: number): boolean {
  return typeof value === 'string' && value !== '' && value.length <= most;
}
