/**
 * Keys that collect calls: the effect of a call under `debounce` or `throttle`. Pure, and restated
 * in lua/lib/records/window.lua.
 */

/** How calls under one key are collected; lengths in ms. */
export type WindowSpec =
  /** Each call moves the start to `waitMs` after it, at most `maxWaitMs` after the first. */
  | {
      readonly policy: 'debounce';
      /** From the latest call to the start. */
      readonly waitMs: number;
      /** From the first call to the start at the latest; absent: no bound. */
      readonly maxWaitMs?: number;
    }
  /** One start per `perMs`; with `trailing` the newest input of a window runs at its end. */
  | {
      readonly policy: 'throttle';
      /** Length of a window. */
      readonly perMs: number;
      /** False: later calls within a window are dropped. */
      readonly trailing: boolean;
    };

/** Stored with the key about the task that holds it. */
export interface Window {
  /** Debounce: moment of the first call. Throttle: start of the window of its task. */
  readonly from: number;
  /** Throttle: end of that window, and of the key. */
  readonly until?: number;
}

/** State of the task that holds the key: `begun` once it was leased, or has ended. */
export type OwnerState = 'scheduled' | 'waiting' | 'begun';

/** Effect of a call. */
export type WindowStep =
  /** No new task: the call returns the task that holds the key. */
  | { readonly kind: 'return' }
  /** The task that holds the key gets the input of the call, and another due time if one is given. */
  | { readonly kind: 'replace'; readonly dueAt?: number }
  /** A new task, which now holds the key. */
  | {
      readonly kind: 'new';
      /** Start of the new task, in ms since the epoch. */
      readonly dueAt: number;
      /** Stored with the key. */
      readonly window: Window;
    };

/** Effect of the first call under a key. */
export function openWindow(spec: WindowSpec, now: number): WindowStep & { readonly kind: 'new' } {
  if (spec.policy === 'debounce') {
    return { kind: 'new', dueAt: now + debounced(spec, now, now), window: { from: now } };
  }
  return { kind: 'new', dueAt: now, window: { from: now, until: now + spec.perMs } };
}

/** Effect of a call while a task holds the key. */
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

/** Time from now until the start. */
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
  // The task at the end of the window exists, unless it was made due or canceled.
  if (ownerState !== 'begun') return { kind: 'replace' };
  return { kind: 'new', dueAt: from, window: { from, until } };
}
