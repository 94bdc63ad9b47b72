/** Keys: a letter of a button presses it, `g` and a letter goes to a screen. */
import { goTo, linkTo } from '../state/address.ts';
import { close, open, overlay } from '../state/overlay.ts';
import { isStopped } from '../state/readings.ts';
import { turnTheme } from '../state/theme.ts';
import { placesHere } from './places.ts';

/** For the list of keys. */
export const KEYS: readonly (readonly [does: string, keys: string])[] = [
  ['Go to a screen, by its letter', 'g'],
  ['Go to anything by name', '⌘K'],
  ['Filter this screen', '/'],
  ['Row below, row above', 'j k'],
  ['Open the row', '↵'],
  ['Select the row', 'x'],
  ['Select all that match', '⇧A'],
  ['Export the list', 'e'],
  ['Save the view', 'v'],
  ['Resume', 'r'],
  ['Redrive', '⇧R'],
  ['Pause', 'p'],
  ['Cancel', 'c'],
  ['Remove', '⇧D'],
  ['Fold groups, unfold them', 'e'],
  ['Stop, and go on', '.'],
  ['Light or dark', 't'],
  ['Close', 'esc'],
  ['These keys', '?'],
];

/** How long `g` waits for its letter. */
const LETTER_MS = 1_500;
let goingSince = Number.NEGATIVE_INFINITY;

/** Listens from now on. */
export function listenToKeys(): void {
  addEventListener('keydown', (event) => {
    if ((event.metaKey || event.ctrlKey) && event.key.toLowerCase() === 'k') {
      event.preventDefault();
      if (overlay.value?.kind === 'palette') close();
      else open({ kind: 'palette' });
      return;
    }
    if (event.metaKey || event.ctrlKey || event.altKey || overlay.value !== undefined) return;
    if (isTyping(event.target)) {
      if (event.key === 'Escape' && event.target instanceof HTMLElement) event.target.blur();
      return;
    }
    if (press(event.key, event.shiftKey)) event.preventDefault();
  });
}

/** Whether the key did anything. */
function press(key: string, isShifted: boolean): boolean {
  if (performance.now() - goingSince < LETTER_MS) {
    goingSince = Number.NEGATIVE_INFINITY;
    const place = placesHere().find(({ letter }) => letter === key);
    if (place !== undefined) goTo(linkTo(place.key));
    return place !== undefined;
  }
  switch (key) {
    case 'g':
      goingSince = performance.now();
      return true;
    case '/':
      return focus(document.querySelector('main [data-filter]'));
    case '?':
      open({ kind: 'keys' });
      return true;
    case '.':
      isStopped.value = !isStopped.value;
      return true;
    case 't':
      turnTheme();
      return true;
    case 'j':
      return step(1);
    case 'k':
      return step(-1);
    case 'x':
      return click(document.activeElement?.closest('[data-row]')?.querySelector('input') ?? null);
    default:
      return click(document.querySelector(`main [data-shortcut="${shortcutOf(key, isShifted)}"]`));
  }
}

function shortcutOf(key: string, isShifted: boolean): string {
  return CSS.escape(isShifted && key.length === 1 ? `⇧${key.toUpperCase()}` : key);
}

/** To the next row, or the one before. */
function step(by: number): boolean {
  const rows = [...document.querySelectorAll('main [data-row]')];
  const at = rows.findIndex((row) => row.contains(document.activeElement));
  const next = rows[at === -1 ? 0 : Math.min(rows.length - 1, Math.max(0, at + by))];
  const target =
    next?.matches('a, button') === true ? next : next?.querySelector('a.name, a, button');
  return focus(target ?? null);
}

function focus(element: Element | null): boolean {
  if (!(element instanceof HTMLElement)) return false;
  element.focus();
  return true;
}

function click(element: Element | null): boolean {
  if (!(element instanceof HTMLElement)) return false;
  element.click();
  return true;
}

function isTyping(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  if (target instanceof HTMLInputElement) return target.type !== 'checkbox';
  return target.matches('select, textarea');
}
