import { type Duration, durationMs } from '../../base/time.ts';
import { InvalidOptionError, RetryAfter } from '../../domain/errors/errors.ts';
import { checkOptions, keysOf, type OptionKeys } from '../../domain/errors/options.ts';
import { LIMITS } from '../../domain/limits.ts';

/** Options of {@link retryAfter}. */
export interface RetryAfterOptions {
  /**
   * `false` releases the task without counting an attempt, at most 1,000 times and for at least 100
   * ms. Default `true`: it counts as one of its retries.
   */
  readonly countAttempt?: boolean | undefined;
  /** Message in the attempt's record. */
  readonly message?: string | undefined;
}

const KEYS: OptionKeys<RetryAfterOptions> = keysOf<RetryAfterOptions>()({
  countAttempt: true,
  message: true,
});

/**
 * An error for a handler to throw: `throw retryAfter('30s')` runs the task again after that delay,
 * which replaces its backoff.
 *
 * @example
 * ```ts
 * import { Fairloom, memory, retryAfter, task } from 'fairloom';
 *
 * let calls = 0;
 * const fetchRates = task('fetchRates', async () => {
 *   calls += 1;
 *   if (calls === 1) throw retryAfter('10ms', { countAttempt: false });
 *   return calls;
 * });
 * const loom = new Fairloom({ backend: memory(), tasks: [fetchRates] });
 * console.log(await loom.run(fetchRates)); // prints 2
 * await loom.close();
 * ```
 *
 * @throws {@link InvalidOptionError} when the delay is not a duration from 0 to ten years.
 */
export function retryAfter(wait: Duration, options: RetryAfterOptions = {}): RetryAfter {
  const ms = durationMs(wait);
  if (ms === undefined || ms < 0 || ms > LIMITS.delayMaxMs) {
    throw new InvalidOptionError('retryAfter', `0 to ${LIMITS.delayMaxMs} ms`, wait);
  }
  checkOptions('retryAfter', options, KEYS);
  const { countAttempt = true, message = `asked to run again after ${ms} ms` } = options;
  if (typeof countAttempt !== 'boolean') {
    throw new InvalidOptionError('countAttempt', 'true or false', countAttempt);
  }
  if (typeof message !== 'string') throw new InvalidOptionError('message', 'a text', message);
  return new RetryAfter(ms, countAttempt, message);
}
