import { sleep } from '../base/pause.ts';
import type { Core } from '../core/core.ts';
import { LIMITS } from '../domain/limits.ts';
import { say } from '../logging/log-events.ts';
import type { Worker } from '../worker/worker.ts';

/** Share of the time to close that running handlers get; the rest is for storing their outcomes. */
const GRACE_PART = 0.8;

/** Default time for the backend to close, in ms. */
const BACKEND_MS = 5_000;

/** The same for a backend with its own disk: it may have to write all that it stores. */
const DISK_MS = 60_000;

/**
 * Stops everything in order: new calls, workers, waits, runtimes of handlers, the backend. Settles
 * within the time; without one, workers get their own grace.
 */
export async function closeAll(
  core: Core,
  workers: readonly Worker[],
  timeoutMs: number | undefined,
): Promise<void> {
  const { clock, connection, results, handlers, log, series } = core;
  const stop = new AbortController();
  const wait = (ms: number): Promise<void> => sleep(clock, ms, stop.signal);
  const limit = timeoutMs === undefined ? undefined : wait(timeoutMs);
  const grace = timeoutMs === undefined ? {} : { grace: Math.floor(timeoutMs * GRACE_PART) };
  connection.refuse();
  try {
    const stopped = Promise.all(workers.map((worker) => worker.stop(grace)));
    await (limit === undefined ? stopped : Promise.race([stopped, limit]));
    for (const worker of workers) worker.abandon();
    results.close();
    await Promise.race([series?.close(), limit ?? wait(LIMITS.goodbyeMs)]);
    const freed = Promise.all([handlers.close(), connection.close()]);
    const { sync } = connection.backend.capabilities;
    await Promise.race([freed, limit ?? wait(sync === undefined ? BACKEND_MS : DISK_MS)]);
  } catch (error) {
    say(log, 'backend.close-failed', 'closing the backend failed', { error });
  } finally {
    stop.abort();
  }
}
