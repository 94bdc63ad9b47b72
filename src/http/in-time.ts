/** What is waited for no longer than is said. */
import type { Clock } from '../base/time.ts';
import { Refusal } from '../operations/refusal.ts';

/**
 * The answer of `ask`, whose signal aborts when it comes too late; what comes then is handed to `late`.
 *
 * @throws {@link Refusal} when it does not come within the time; what `ask` throws.
 */
export function inTime<T>(
  { clock, ms, late }: { readonly clock: Clock; readonly ms: number; late?(value: T): void },
  ask: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const stop = new AbortController();
  return new Promise((resolve, reject) => {
    const timer = clock.setTimer(ms, () => {
      stop.abort();
      reject(new Refusal('TOO_SLOW', `no answer within ${ms} ms`));
    });
    ask(stop.signal)
      .then((value) => (stop.signal.aborted ? late?.(value) : resolve(value)), reject)
      .finally(() => timer.cancel());
  });
}
