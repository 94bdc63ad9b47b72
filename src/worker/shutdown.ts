import { linkAbort } from '../base/abort-watch.ts';
import { sleep } from '../base/pause.ts';
import type { Clock } from '../base/time.ts';
import { LIMITS } from '../domain/limits.ts';
import type { LeaseLoop } from './lease-loop.ts';
import type { Line } from './line.ts';
import type { Slots } from './slots.ts';

/** The outcome of a stop. */
export interface StopReport {
  /** Tasks whose handlers did not end in time. Their leases end, and other workers run them. */
  readonly unfinished: readonly string[];
}

/** Time for handlers to react to an abort when no time is left, in ms. */
const HURRY_MS = 100;

/**
 * Releases tasks that have not started, lets handlers end within the grace (`hurry` ends it), aborts the
 * others, and waits until every decision is stored. The task of an aborted handler is released uncounted; a
 * handler that does not end keeps its lease until it expires, so that the task does not run twice at once.
 * Returns the tasks of those handlers.
 */
export async function emptySlots(
  line: Line,
  pipe: { readonly slots: Slots; readonly loop: LeaseLoop },
  graceMs: number,
  hurry: AbortSignal,
): Promise<readonly string[]> {
  const { changed, clock } = line;
  const { slots, loop } = pipe;
  const ended = line.ended.signal;
  slots.close();
  const isDone = (): boolean => slots.used === 0;
  await changed.within(clock, graceMs, isDone, hurry);
  if (!isDone()) {
    slots.shutDown();
    // A second signal shortens the grace here too.
    const sooner = linkAbort(hurry, ended);
    await changed.within(clock, LIMITS.abortGraceMs, isDone, sooner.signal);
    sooner.unlink();
    if (hurry.aborted) await changed.within(clock, HURRY_MS, isDone, ended);
  }
  const unfinished = isDone() ? [] : slots.runningIds();
  // Without a registration the worker cannot have leased.
  if (line.isRegistered) await changed.within(clock, LIMITS.flushMs, () => loop.isFlushed, ended);
  return unfinished;
}

/** Waits until the last calls of a worker succeed or fail, for a limited time. */
export async function awaitLastCalls(
  clock: Clock,
  calls: readonly (Promise<void> | undefined)[],
  ended: AbortSignal,
): Promise<void> {
  const settled = new AbortController();
  const waiting = linkAbort(ended, settled.signal);
  void Promise.allSettled(calls).then(() => settled.abort());
  await sleep(clock, LIMITS.goodbyeMs, waiting.signal);
  waiting.unlink();
}
