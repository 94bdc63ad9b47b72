/**
 * The generic cell rate algorithm (ITU-T I.371): one number, the theoretical arrival time `tat`,
 * holds the whole state of a limit.
 */
export interface RateLimit {
  /** How many starts … */
  readonly limit: number;
  /** … in this many milliseconds. */
  readonly perMs: number;
  /** How many may start at once after a pause. */
  readonly burst: number;
}

/**
 * The earliest moment at which the next start is allowed; in the past means now. Rounded down to
 * a whole millisecond: rounded up, every start would lose the rest, and 900 per second would
 * become 500.
 */
export function allowedAt(rate: RateLimit, tat: number): number {
  return Math.floor(tat - (rate.burst - 1) * (rate.perMs / rate.limit));
}

/**
 * The same `tat`, or the latest that starts up to `now` can have led to: what is later is of a clock that has gone back
 * since, or of another limit. One more millisecond, since moments are rounded down.
 */
export function boundedTat(rate: RateLimit, tat: number, now: number): number {
  return tat < now + 1 + rate.burst * (rate.perMs / rate.limit)
    ? tat
    : now + 1 + rate.burst * (rate.perMs / rate.limit);
}

/** The new `tat` after a start at `now`. */
export function afterStart(rate: RateLimit, tat: number, now: number): number {
  return (tat > now ? tat : now) + rate.perMs / rate.limit;
}

/** About the same after so many at once: nearly what as many single ones come to. */
export function afterStarts(rate: RateLimit, tat: number, now: number, starts: number): number {
  return (tat > now ? tat : now) + starts * (rate.perMs / rate.limit);
}

/** The new `tat` after a start was given back. */
export function afterGiveBack(rate: RateLimit, tat: number): number {
  return tat - rate.perMs / rate.limit;
}
