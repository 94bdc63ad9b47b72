/** A duration: milliseconds, or a number with its unit (`"250ms"`, `"30s"`, `"5m"`, `"2h"`, `"7d"`). */
export type Duration = number | `${number}${'ms' | 's' | 'm' | 'h' | 'd'}`;

const UNIT_MS: ReadonlyMap<string, number> = new Map([
  ['ms', 1],
  ['s', 1_000],
  ['m', 60_000],
  ['h', 3_600_000],
  ['d', 86_400_000],
]);

/** Whether a value is a valid duration. */
export function isDuration(value: unknown): value is Duration {
  return durationMs(value) !== undefined;
}

/** The duration in whole milliseconds; `undefined` for an invalid text or number. */
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
      /** As in `Date`. */
      getTime(): number;
    };

/** A timer that has been set; canceling twice, or after it fired, does nothing. */
export interface Timer {
  /** Cancels the timer. */
  cancel(): void;
}

/**
 * The source of time for every part of Fairloom that is not pure. The embedded backend, clients and
 * workers share one; tests use a manual one.
 */
export interface Clock {
  /** Milliseconds since the Unix epoch. */
  now(): number;
  /**
   * Milliseconds since any moment, on a monotonic clock: for timeouts and pauses within a process.
   * Absent: `now`, which then must not be set while anything runs.
   */
  elapsed?(): number;
  /** Calls `fire` once, `ms` from now. Waits beyond Node's 2^31 − 1 ms are chained, never clamped. */
  setTimer(ms: number, fire: () => void): Timer;
}

/** For durations within this process, independent of changes of the machine's clock. */
export function elapsedMs(clock: Clock): number {
  return clock.elapsed === undefined ? clock.now() : clock.elapsed();
}
