/** Waiting for what workers do, without polling and without missing what was before. */

import type { WorkerEvents } from '../../src/events/worker-events.ts';
import type { Worker } from '../../src/worker/worker.ts';

type EventName = keyof WorkerEvents;

/** Everything that a worker tells, from now on. */
export interface Observed {
  /** Events of one kind so far. */
  of<Name extends EventName>(name: Name): readonly WorkerEvents[Name][];
  /** Fulfilled when there have been so many of a kind. */
  count(name: EventName, times: number): Promise<void>;
}

const NAMES: readonly EventName[] = [
  'task.started',
  'task.finished',
  'task.failed',
  'task.retried',
  'task.canceled',
  'task.released',
  'lease.lost',
  'worker.error',
  'worker.unhealthy',
  'worker.healthy',
  'worker.blocked',
  'worker.started',
  'worker.stopped',
];

export function observe(worker: Worker): Observed {
  const seen = new Map<EventName, unknown[]>(NAMES.map((name) => [name, []]));
  let waiting: { name: EventName; times: number; resolve: () => void }[] = [];
  for (const name of NAMES) {
    worker.on(name, (event) => {
      seen.get(name)?.push(event);
      waiting = waiting.filter((one) => {
        if ((seen.get(one.name)?.length ?? 0) < one.times) return true;
        one.resolve();
        return false;
      });
    });
  }
  return {
    of: <Name extends EventName>(name: Name) => (seen.get(name) ?? []) as WorkerEvents[Name][],
    count: (name, times) =>
      new Promise((resolve) => {
        if ((seen.get(name)?.length ?? 0) >= times) resolve();
        else waiting.push({ name, times, resolve });
      }),
  };
}

/** Fulfilled when the signal aborts. */
export function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener('abort', () => resolve());
  });
}
