/**
 * The generic cell rate algorithm (ITU-T I.371): one number, the theoretical arrival time `tat`, is
 * the whole state of a limit.
 */
export interface RateLimit {
  /** Number of starts … */
  readonly limit: number;
  /** … in this many milliseconds. */
  readonly perMs: number;
  /** Number of starts allowed at once after a pause. */
  readonly burst: number;
}

/**
 * The earliest moment of the next start; a past moment means now. Rounded down to whole
 * milliseconds: rounding up would lose time at every start, and 900 per second would become 500.
 */
export function allowedAt(rate: RateLimit, tat: number): number {
  return Math.floor(tat - (rate.burst - 1) * (rate.perMs / rate.limit));
}

/**
 * The same `tat`, at most the latest that starts up to `now` can have caused: a later one is of a clock
 * that was set back, or of another limit. One more millisecond, since moments are rounded down.
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

/** The new `tat` after several starts at once: nearly that of as many single ones. */
export function afterStarts(rate: RateLimit, tat: number, now: number, starts: number): number {
  return (tat > now ? tat : now) + starts * (rate.perMs / rate.limit);
}

/** The new `tat` after a start is returned. */
export function afterGiveBack(rate: RateLimit, tat: number): number {
  return tat - rate.perMs / rate.limit;
}
