import { onAbort } from './abort-watch.ts';
import type { Clock } from './time.ts';

/** First pause after a failed call, in ms; each further one is twice as long. */
const FIRST_MS = 50;

/** Longest pause, in ms: work resumes within two seconds after an outage. */
const LONGEST_MS = 2_000;

/** Pause after a number of failures in a row: growing, and random for each worker. */
export function pauseMs(failures: number, random: number): number {
  const whole = Math.min(LONGEST_MS, FIRST_MS * 2 ** Math.min(failures - 1, 10));
  return Math.ceil(whole / 2 + (random * whole) / 2);
}

/** Waits for `ms`, or until the signal aborts. */
export function sleep(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const stop = (): void => {
      timer.cancel();
      unwatch();
      resolve();
    };
    const timer = clock.setTimer(ms, stop);
    const unwatch = onAbort([signal], stop);
  });
}
