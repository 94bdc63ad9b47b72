/** Fills a store with tasks of every state, through the port of a backend and in batches. */

import { LIMITS } from '../../src/domain/limits.ts';
import type { Backend, Decision, Leased } from '../../src/domain/port/backend.ts';
import type { NewTask, TaskState } from '../../src/domain/task/task.ts';
import { HUNDRED_BYTES } from './payload.ts';

/** How many tasks of each state, and of how many users. */
export interface Filling extends Readonly<Record<TaskState, number>> {
  readonly users: number;
}

const QUEUE = 'default';
const NAME = 'noop';
const PAYLOAD = JSON.stringify(HUNDRED_BYTES);
const DAY_MS = 86_400_000;
/** Tasks of one call. */
const BATCH = 1_000;
/** Calls in flight. */
const LANES = 8;

const EDGES: NewTask['edges'] = {
  onFailure: 'wait',
  onCancel: 'cancel',
  onMissing: 'refuse',
  allowCrossUser: true,
};

const FINISH: Decision = { type: 'finish', result: '{"ok":true}' };
const FAIL: Decision = {
  type: 'dead-letter',
  cause: { type: 'fatal', failure: 'error' },
  error: '{"name":"Error","message":"no"}',
};

/** The deferred ones wait for the first scheduled one. `size`: how much of each number. */
export async function fillStates(
  backend: Backend,
  filling: Filling,
  size: (full: number) => number,
): Promise<void> {
  const users = size(filling.users);
  for (let at = 0; at < LANES; at++) {
    const spec = { queues: [QUEUE], names: [NAME], concurrency: BATCH, host: 'bench' };
    await backend.workers.register({ id: `bench-${at}`, ...spec });
  }
  const state = (name: string, count: number, fields: Partial<NewTask>): Promise<void> =>
    store(backend, count, (at) => newTask(`${name}.${at}`, `user-${at % users}`, fields));
  const { finished, failed, started, canceled } = filling;
  await state('finished', size(finished), {});
  await settle(backend, size(finished), FINISH);
  await state('failed', size(failed), {});
  await settle(backend, size(failed), FAIL);
  await state('started', size(started), {});
  await settle(backend, size(started), undefined);
  await state('canceled', size(canceled), { delayMs: DAY_MS });
  await inQueues(size(canceled), async (at) => {
    await backend.tasks.cancel(`canceled.${at}`, { type: 'request', reason: 'not wanted' });
  });
  await state('scheduled', size(filling.scheduled), { delayMs: DAY_MS });
  await state('deferred', size(filling.deferred), { dependsOn: ['scheduled.0'] });
  await state('queued', size(filling.queued), {});
}

/** More tasks of one user in line. */
export function fillLine(backend: Backend, user: string, count: number): Promise<void> {
  return store(backend, count, (at) => newTask(`${user}.${at}`, user, {}));
}

function newTask(id: string, user: string, fields: Partial<NewTask>): NewTask {
  const place = { id, name: NAME, queue: QUEUE, user, level: 3, cost: 1 } as const;
  return { ...place, payload: PAYLOAD, options: '', dependsOn: [], edges: EDGES, ...fields };
}

async function store(backend: Backend, count: number, make: (at: number) => NewTask) {
  await inQueues(Math.ceil(count / BATCH), async (batch) => {
    const from = batch * BATCH;
    const size = Math.min(BATCH, count - from);
    const tasks = Array.from({ length: size }, (_, at) => make(from + at));
    const replies = await backend.tasks.enqueue(tasks, { atomic: false });
    const other = replies.find(({ kind }) => kind !== 'created');
    if (other !== undefined) throw new TypeError(`a task was not stored: ${JSON.stringify(other)}`);
  });
}

/** Leases all queued tasks; without a decision they stay started. */
async function settle(backend: Backend, count: number, decision: Decision | undefined) {
  let left = count;
  await inQueues(LANES, async (queue) => {
    const worker = `bench-${queue}`;
    for (let call = 0; left > 0; call++) {
      const { leases } = await backend.tasks.lease({
        requestId: `b${queue}${count}x${String(call).padStart(8, '0')}`,
        ...{ worker, limit: LIMITS.leaseBatch, leaseMs: LIMITS.leaseMaxMs },
        queues: [{ queue: QUEUE, weight: 1, pass: 0 }],
        wait: false,
      });
      if (leases.length === 0) return;
      left -= leases.length;
      if (decision === undefined) continue;
      const settlements = leases.map(({ id, token }: Leased) => ({ id, token, decision }));
      await backend.tasks.settle({ worker, settlements });
    }
  });
}

/** Calls it for each number below `count`, several at once. */
export async function inQueues(count: number, act: (at: number) => Promise<void>): Promise<void> {
  let next = 0;
  const queues = Array.from({ length: Math.min(LANES, count) }, async () => {
    for (let at = next++; at < count; at = next++) await act(at);
  });
  await Promise.all(queues);
}
