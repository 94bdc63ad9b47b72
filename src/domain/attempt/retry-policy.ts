/** How long to wait before the next attempt; plain data, so that it can be stored with the task. */
export interface RetryPolicy {
  /** Attempts after the first; 3 means four starts in all. */
  readonly retries: number;
  /** The same wait each time, or twice as long each time. */
  readonly kind: 'exponential' | 'fixed';
  /** The wait, or the first of a growing series, in ms. */
  readonly baseMs: number;
  /** Longest wait, in ms. */
  readonly maxMs: number;
  /** What part of the wait is drawn by chance: all of it, its second half, or none. */
  readonly jitter: 'full' | 'equal' | 'none';
}

/**
 * The wait before the attempt after `failures` failed ones, an integer in [0, maxMs]: what a power has
 * outgrown is infinite, and capped too. `random` is in [0, 1).
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
