/**
 * Keys that gather calls: what a call under `debounce` or `throttle` comes to. Pure, and restated
 * in lua/lib/records/window.lua.
 */

/** How calls under one key are gathered; lengths in ms. */
export type WindowSpec =
  /** The start moves on with every call, to `waitMs` after it, at most `maxWaitMs` after the first. */
  | {
      readonly policy: 'debounce';
      /** From the latest call to the start. */
      readonly waitMs: number;
      /** From the first call to the start at the latest; absent: no bound. */
      readonly maxWaitMs?: number;
    }
  /** One start in `perMs`; with `trailing` the newest input of a window runs when it is over. */
  | {
      readonly policy: 'throttle';
      /** Length of a window. */
      readonly perMs: number;
      /** False: what comes within a window after its first call is dropped. */
      readonly trailing: boolean;
    };

/** What the key remembers of the task that holds it. */
export interface Window {
  /** Debounce: when the first call came. Throttle: when the window of its task begins. */
  readonly from: number;
  /** Throttle: when that window ends. The key holds until then. */
  readonly until?: number;
}

/** Where the task stands that holds the key: `begun` once it was leased, or has ended. */
export type OwnerState = 'scheduled' | 'waiting' | 'begun';

/** What a call comes to. */
export type WindowStep =
  /** The task that holds the key stands for it. */
  | { readonly kind: 'return' }
  /** That task gets its input, and another due time where one is given. */
  | { readonly kind: 'replace'; readonly dueAt?: number }
  /** A new task, which holds the key from now on. */
  | {
      readonly kind: 'new';
      /** When the new task starts, in ms since the epoch. */
      readonly dueAt: number;
      /** What the key remembers of it. */
      readonly window: Window;
    };

/** What the first call under a key comes to. */
export function openWindow(spec: WindowSpec, now: number): WindowStep & { readonly kind: 'new' } {
  if (spec.policy === 'debounce') {
    return { kind: 'new', dueAt: now + debounced(spec, now, now), window: { from: now } };
  }
  return { kind: 'new', dueAt: now, window: { from: now, until: now + spec.perMs } };
}

/** What a call comes to while the key holds. */
export function windowStep(
  spec: WindowSpec,
  window: Window,
  ownerState: OwnerState,
  now: number,
): WindowStep {
  return spec.policy === 'debounce'
    ? debounceStep(spec, window, ownerState, now)
    : throttleStep(spec, window, ownerState, now);
}

type Debounce = WindowSpec & { readonly policy: 'debounce' };
type Throttle = WindowSpec & { readonly policy: 'throttle' };

function debounceStep(
  spec: Debounce,
  { from }: Window,
  ownerState: OwnerState,
  now: number,
): WindowStep {
  if (ownerState === 'begun') return openWindow(spec, now);
  if (ownerState === 'waiting') return { kind: 'replace' };
  return { kind: 'replace', dueAt: now + debounced(spec, from, now) };
}

/** How long from now until the start. */
function debounced({ waitMs, maxWaitMs }: Debounce, from: number, now: number): number {
  return maxWaitMs === undefined ? waitMs : Math.max(0, Math.min(waitMs, from + maxWaitMs - now));
}

function throttleStep(
  spec: Throttle,
  { from, until = from }: Window,
  ownerState: OwnerState,
  now: number,
): WindowStep {
  if (!spec.trailing) return { kind: 'return' };
  if (now >= from) {
    return { kind: 'new', dueAt: until, window: { from: until, until: until + spec.perMs } };
  }
  // The task that ends the window is stored already, unless it was made due or canceled.
  if (ownerState !== 'begun') return { kind: 'replace' };
  return { kind: 'new', dueAt: from, window: { from, until } };
}
