/** A length of time: milliseconds, or a number with its unit (`"250ms"`, `"30s"`, `"5m"`, `"2h"`, `"7d"`). */
export type Duration = number | `${number}${'ms' | 's' | 'm' | 'h' | 'd'}`;

const UNIT_MS: ReadonlyMap<string, number> = new Map([
  ['ms', 1],
  ['s', 1_000],
  ['m', 60_000],
  ['h', 3_600_000],
  ['d', 86_400_000],
]);

/** Whether a value is a length of time that can be read. */
export function isDuration(value: unknown): value is Duration {
  return durationMs(value) !== undefined;
}

/** The length in whole milliseconds, or `undefined` when the text or number is not a duration. */
export function durationMs(value: unknown): number | undefined {
  if (typeof value === 'number') return Number.isFinite(value) ? Math.round(value) : undefined;
  if (typeof value !== 'string') return undefined;
  const match = /^(-?\d+(?:\.\d+)?)(ms|s|m|h|d)$/.exec(value);
  const unit = match?.[2] === undefined ? undefined : UNIT_MS.get(match[2]);
  const ms = unit === undefined ? Number.NaN : Math.round(Number(match?.[1]) * unit);
  return Number.isSafeInteger(ms) ? ms : undefined;
}

/** A moment: a `Date`, or milliseconds since the Unix epoch. */
export type Moment =
  | number
  | {
      /** As a `Date` tells it. */
      getTime(): number;
    };

/** A timer that has been set; canceling twice, or after it fired, does nothing. */
export interface Timer {
  /** It will not fire. */
  cancel(): void;
}

/**
 * Where every part of Fairloom that is not pure gets its time. The embedded backend, clients and
 * workers share one; tests hand in a manual one.
 */
export interface Clock {
  /** Milliseconds since the Unix epoch. */
  now(): number;
  /**
   * Milliseconds since any moment, on a clock that is never set: it times timeouts and pauses within a process. Absent:
   * `now`, which then must not be set while anything runs.
   */
  elapsed?(): number;
  /** Calls `fire` once, `ms` from now. Waits beyond Node's 2^31 − 1 ms are chained, never clamped. */
  setTimer(ms: number, fire: () => void): Timer;
}

/** For lengths of time within this process, also while the clock of the machine is set. */
export function elapsedMs(clock: Clock): number {
  return clock.elapsed === undefined ? clock.now() : clock.elapsed();
}
