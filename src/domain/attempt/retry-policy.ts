/** When to retry, as plain data that is stored with the task. */
export interface RetryPolicy {
  /** Attempts after the first; 3 means four starts in all. */
  readonly retries: number;
  /** A constant delay, or one that doubles each time. */
  readonly kind: 'exponential' | 'fixed';
  /** The delay, or the first one of a growing series, in ms. */
  readonly baseMs: number;
  /** Longest delay, in ms. */
  readonly maxMs: number;
  /** Random part of the delay: all of it, its second half, or none. */
  readonly jitter: 'full' | 'equal' | 'none';
}

/**
 * Delay before the attempt after `failures` failed ones, an integer in [0, maxMs]; an overflowing
 * power is capped too. `random` is in [0, 1).
 */
export function backoffMs(policy: RetryPolicy, failures: number, random: number): number {
  const whole = policy.kind === 'fixed' ? policy.baseMs : grown(policy, failures - 1);
  const capped = whole < policy.maxMs ? whole : policy.maxMs;
  switch (policy.jitter) {
    case 'none':
      return Math.floor(capped);
    case 'equal':
      return Math.floor(capped / 2 + (random * capped) / 2);
    case 'full':
      return Math.floor(random * capped);
  }
}

function grown({ baseMs }: RetryPolicy, doublings: number): number {
  return baseMs <= 0 ? 0 : baseMs * 2 ** doublings;
}
