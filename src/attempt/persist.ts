/** Repeats calls of the backend by the engine's own code during outages. */
import { pauseMs, sleep } from '../base/pause.ts';
import type { Clock } from '../base/time.ts';
import { isOwn } from '../domain/errors/errors.ts';

/** Repeats a call during outages, with pauses, until the lease has ended. */
export async function persist<T>(
  { clock, random }: { readonly clock: Clock; readonly random: () => number },
  signal: AbortSignal,
  call: () => Promise<T>,
): Promise<T> {
  for (let failures = 1; ; failures++) {
    try {
      return await call();
    } catch (error) {
      const mayPass = isOwn(error) && error.retryable;
      if (!mayPass || signal.aborted) throw error;
      await sleep(clock, pauseMs(failures, random()), signal);
      signal.throwIfAborted();
    }
  }
}
