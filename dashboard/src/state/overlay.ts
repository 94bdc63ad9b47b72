/** What lies over the screen: one thing at a time, and the focus goes back to where it came from. */
import { signal } from '@preact/signals';
import type { Action } from '../api/actions.ts';
import type { Export } from '../api/exports.ts';

/** A drawer or a dialog. */
export type Overlay =
  | { readonly kind: 'action'; readonly action: Action }
  | { readonly kind: 'export'; readonly of: Export }
  | { readonly kind: 'keys' }
  | { readonly kind: 'palette' }
  | { readonly kind: 'save-view'; readonly where: string };

/** The one that is open. */
export const overlay = signal<Overlay | undefined>(undefined);
/** A line at the foot that goes by itself. */
export const toast = signal<{ readonly text: string; readonly tone: 'bad' | 'ok' } | undefined>(
  undefined,
);

const TOAST_MS = 4_000;
let before: Element | null = null;
let toasts = 0;

/** Opens one in place of the one before. */
export function open(next: Overlay): void {
  if (overlay.value === undefined) before = document.activeElement;
  overlay.value = next;
}

/** Closes it. */
export function close(): void {
  if (overlay.value === undefined) return;
  overlay.value = undefined;
  if (before instanceof HTMLElement) before.focus({ preventScroll: true });
}

/** Says how something went. */
export function say(text: string, tone: 'bad' | 'ok' = 'ok'): void {
  toast.value = { text, tone };
  toasts += 1;
  const mine = toasts;
  setTimeout(() => {
    if (mine === toasts) toast.value = undefined;
  }, TOAST_MS);
}
