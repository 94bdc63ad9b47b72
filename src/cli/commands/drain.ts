/** `fairloom worker --drain`: the end of the work that is there. */

import { setTimeout as pause } from 'node:timers/promises';
import { linkAbort } from '../../base/abort-watch.ts';
import { coreOf, type Fairloom } from '../../client/client.ts';
import { isOwn } from '../../domain/errors/errors.ts';
import { serveUntilSignal } from '../../worker/serve.ts';
import type { StopReport } from '../../worker/shutdown.ts';
import type { Worker } from '../../worker/worker.ts';
import type { WorkerOptions } from '../../worker/worker-options.ts';
import { type Left, type Look, lookForWork, type Scope, scopeOf } from './look.ts';

/** Between two looks in ms: the end of a task that runs elsewhere is not reported here. */
const LOOK_MS = 500;

/** How a drain is told to end, and what it tells. */
export interface DrainOptions {
  /** Gives it up: the caller stops the workers. */
  readonly signal: AbortSignal;
  /** Takes a line for people. */
  readonly say: (text: string) => void;
  /** Is given the workers before they start. */
  readonly made: (workers: readonly Worker[]) => void;
}

/**
 * Runs workers until nothing is left that they could do now, or the process is told to end. Closes
 * the client.
 *
 * @throws what the backend refuses for good.
 */
export async function drain(
  loom: Fairloom,
  plans: readonly WorkerOptions[],
  { signal, say, made }: DrainOptions,
): Promise<StopReport> {
  try {
    const workers = plans.map((plan) => loom.worker(plan));
    made(workers);
    const over = new AbortController();
    const serving = serveUntilSignal(workers, process).finally(() => over.abort());
    const ends = linkAbort(signal, over.signal);
    const scopes = plans.map(scopeOf);
    const draining = stopDrained({ loom, workers, scopes, signal: ends.signal, say });
    const [report] = await Promise.all([serving, draining]).finally(() => ends.unlink());
    return report;
  } finally {
    await loom.close();
  }
}

async function stopDrained(draining: Draining): Promise<void> {
  const { workers, say } = draining;
  try {
    const left = await untilDrained(draining);
    if (left !== undefined) say(leftText(left));
  } finally {
    // Also after a refusal: what runs ends in the grace of its worker.
    await Promise.all(workers.map((worker) => worker.stop()));
  }
}

function leftText({ scheduled, deferred, queued }: Left): string {
  const parts = [
    ...(scheduled > 0 ? [`${scheduled} delayed`] : []),
    ...(deferred > 0 ? [`${deferred} waiting for others`] : []),
    ...(queued > 0 ? [`${queued} held back`] : []),
  ];
  return `nothing more can run now${parts.length === 0 ? '' : `; left: ${parts.join(', ')}`}`;
}

interface Draining extends Omit<DrainOptions, 'made'> {
  readonly loom: Fairloom;
  readonly workers: readonly Worker[];
  /** What they serve. */
  readonly scopes: readonly Scope[];
}

/**
 * Fulfilled when the workers have nothing more that they could do now, or with `undefined` when the
 * signal came first. While the backend cannot be reached it waits, as the workers do.
 */
async function untilDrained(draining: Draining): Promise<Left | undefined> {
  const { workers, say, signal } = draining;
  let lastText: string | undefined;
  let wasDrained = false;
  while (!signal.aborted) {
    await Promise.all(workers.map((worker) => worker.whenIdle()));
    if (signal.aborted) break;
    const look = await lookOnce(draining);
    if (look.isDrained) {
      // An end may be under way to those that wait for it: only a second look can tell.
      if (wasDrained || look.left.deferred === 0) return look.left;
    } else if (look.reason !== lastText) {
      lastText = look.reason;
      say(`waits: ${look.reason}`);
    }
    wasDrained = look.isDrained;
    await pause(LOOK_MS, undefined, { signal }).catch(() => undefined);
  }
  return undefined;
}

async function lookOnce({ loom, scopes }: Draining): Promise<Look> {
  try {
    return await lookForWork(await coreOf(loom).connection.open(), scopes);
  } catch (error) {
    if (!isOwn(error) || !error.retryable) throw error;
    return { isDrained: false, reason: error.message };
  }
}
