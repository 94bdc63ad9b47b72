/** Calls of the backend by code of the engine's own, which outlive its outages. */
import { pauseMs, sleep } from '../base/pause.ts';
import type { Clock } from '../base/time.ts';
import { isOwn } from '../domain/errors/errors.ts';

/** Goes on through outages, with pauses, until the lease is not wanted any more. */
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
