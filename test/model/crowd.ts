/** More tasks of one user than one step wakes, which all wait for one event. */
import type { Settlement, WorkerSpec } from '../../src/domain/port/backend.ts';
import type { NewTask } from '../../src/domain/task/task.ts';
import { ANSWER, type WaitEvent } from '../../src/domain/task/wait.ts';
import type { LeasedRef } from './client.ts';
import { NAMES, QUEUES, USERS } from './steps.ts';

/** One step wakes 60. */
const SIZE = 66;
/** Each lease gives so many, well within what one script may do. */
export const CROWD_LEASE = 30;
/** … of as many as it takes, with what else there is in line. */
export const CROWD_LEASES = 4;

const [user = ''] = USERS;
const [queue = ''] = QUEUES;
const [name = ''] = NAMES;

/** Whose tasks they are. */
export const CROWD_USER: string = user;

/** Begins them all. */
export const CROWD_WORKER: WorkerSpec = {
  id: 'crowd',
  queues: [queue],
  names: NAMES,
  concurrency: CROWD_LEASE,
  host: 'model',
};

export function crowdTasks(nth: number): readonly NewTask[] {
  return Array.from({ length: SIZE }, (_, at) => ({
    // In another order than that in which they begin.
    id: `crowd${nth}.${(at * 7) % SIZE}`,
    ...{ name, queue, user, level: 6 as const, cost: 1, payload: '{}', options: '{}' },
    dependsOn: [],
    edges: { onFailure: 'wait', onCancel: 'cancel', onMissing: 'refuse', allowCrossUser: false },
  }));
}

/** All of them wait; what else was leased goes on as it was. */
export function crowdSettlements(leases: readonly LeasedRef[]): readonly Settlement[] {
  return leases.map(({ id, token }) => ({
    ...{ id, token },
    decision: {
      ...{ type: 'suspend', waitFor: [], wakeOn: 'all' },
      wait: { for: { kind: 'event', name: 'go', key: 'k' }, entry: `${ANSWER}a` },
    },
  }));
}

export function crowdEvent(nth: number): WaitEvent {
  return { name: 'go', key: 'k', payload: '"crowd"', eventId: `crowd ${nth}`, keepMs: 1e12 };
}
