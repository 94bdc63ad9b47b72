/** What ends a history: nothing holds anything up any more, and one worker does all the work. */
import type { WorkerSpec } from '../../src/domain/port/backend.ts';
import type { Call } from './calls.ts';
import type { Oracle } from './oracle/oracle.ts';
import { NAMES, QUEUES } from './steps.ts';

/** Knows every task and serves every queue. */
export const DRAINER: WorkerSpec = {
  id: 'drainer',
  queues: QUEUES,
  names: NAMES,
  concurrency: 40,
  host: 'model',
};

/** Takes away every limit and pause that this history has set, what makes tasks for ever, and what waits so long. */
export function obstacles({ world }: Oracle): readonly Call[] {
  const { queues, everywhere, own } = world;
  const patch = { paused: null, maxRunning: null, rate: null };
  const waiting = [...world.tasks.values()].filter(
    ({ wait }) => wait !== undefined && wait.for.kind !== 'time',
  );
  const paused = [...world.tasks.values()].filter(({ pause }) => pause !== undefined);
  return [
    ...paused.map(({ id }): Call => ({ type: 'resumeRun', id })),
    ...waiting.map(({ id }): Call => ({ type: 'cancel', id, cause: { type: 'request' } })),
    ...[...world.schedules.keys()].map((id): Call => ({ type: 'removeSchedule', id })),
    ...[...queues.values()]
      .filter(({ settings }) => Object.keys(settings).length > 0)
      .map(({ queue }): Call => ({ type: 'setQueue', queue, patch: { ...patch, perUser: null } })),
    ...[...everywhere.keys()].map((user): Call => {
      return { type: 'setUser', user, queue: undefined, patch };
    }),
    ...[...own.keys()].map((key): Call => {
      const [queue, user]: [string, string] = JSON.parse(key);
      return { type: 'setUser', user, queue, patch };
    }),
  ];
}

/** Workers go, and every setting of a user with them. */
export function farewell({ world }: Oracle): readonly Call[] {
  const { everywhere, own, workers } = world;
  const patch = { weight: null, maxRunning: null, maxQueued: null, rate: null, paused: null };
  return [
    ...[...workers.keys()].map((id): Call => ({ type: 'unregister', id })),
    ...[...everywhere.keys()].map((user): Call => {
      return { type: 'setUser', user, queue: undefined, patch };
    }),
    ...[...own.keys()].map((key): Call => {
      const [queue, user]: [string, string] = JSON.parse(key);
      return { type: 'setUser', user, queue, patch };
    }),
  ];
}
