/**
 * A settle that leases, as most calls are: by straight code, where nothing is otherwise. A worker that has just begun holds the
 * alarm, so each case leases once before.
 */
import { expect, inject, it } from 'vitest';
import type { Backend } from '../../src/domain/port/backend.ts';
import type { Leased, LeaseRequest, Settlement } from '../../src/domain/port/leasing.ts';
import type { NewTask } from '../../src/domain/task/task.ts';
import { memory } from '../../src/index.ts';
import { randomOf } from '../support/file/faulty-disk.ts';
import { adminOf, freshPrefix, kitOn } from './faults/kit.ts';

const SEED = 20_261_201;
const QUEUES = [{ queue: 'default', weight: 1, pass: 0 }];
let calls = 0;

function requestOf(limit: number): LeaseRequest {
  const requestId = `request${String(calls++).padStart(6, '0')}`;
  return { requestId, worker: 'w', limit, leaseMs: 3_600_000, queues: QUEUES, wait: false };
}

function finished({ id, token }: Leased): Settlement {
  return { id, token, decision: { type: 'finish', result: '1' } };
}

/** A worker that has leased a first task, and four more in line. */
async function setUp() {
  const prefix = freshPrefix();
  const kit = await kitOn(inject('redisUrl'), prefix);
  await kit.worker('w');
  await kit.addMany(5);
  const { tasks } = kit.backend;
  const { leases } = await tasks.lease(requestOf(1));
  const next = (settlements: readonly Settlement[], lease = requestOf(1)) =>
    tasks.settle({ worker: 'w', settlements, lease });
  const leased = leases[0];
  if (leased === undefined) throw new Error('nothing leased');
  const [second] = (await next([finished(leased)])).lease?.leases ?? [];
  if (second === undefined) throw new Error('nothing leased');
  return { kit, prefix, next, second };
}

it('settles under no other token, and leases all the same', async () => {
  const { kit, next, second } = await setUp();
  const other = { ...finished(second), token: `1-${second.token.split('-')[1]}` };
  const { answers, lease } = await next([other]);
  expect(answers).toEqual([{ kind: 'leaseLost' }]);
  expect(lease?.leases).toHaveLength(1);
  expect(await kit.state(second.id)).toBe('started');
});

it('tells who depends on a task', async () => {
  const { kit, next, second } = await setUp();
  const waits = await kit.add({ dependsOn: [second.id] });
  expect(await kit.state(waits)).toBe('deferred');
  await next([finished(second)]);
  expect(await kit.state(waits)).toBe('queued');
});

it('tells who waits for the end of a task', async () => {
  const { kit, prefix, next, second } = await setUp();
  const raw = adminOf();
  const { signal } = new AbortController();
  const ended = kit.backend.inspect.waitForEnd(second.id, 60_000, signal);
  await expect.poll(() => raw.hexists(`${prefix}:ears`, second.id)).toBe(1);
  await next([finished(second)]);
  expect(await raw.hexists(`${prefix}:ears`, second.id)).toBe(0);
  expect(await ended).toMatchObject({ state: 'finished', result: '1' });
});

it('answers a request that is sent again as the first time', async () => {
  const { kit, next, second } = await setUp();
  const request = requestOf(1);
  const first = await next([finished(second)], request);
  const again = await kit.backend.tasks.lease(request);
  expect(again.leases.map(({ id }) => id)).toEqual(first.lease?.leases.map(({ id }) => id));
});

/** What a random course of enqueues and steps serves, in order. */
async function courseOn(backend: Backend, seed: number): Promise<readonly string[]> {
  const random = randomOf(seed);
  const below = (most: number): number => Math.floor(random() * most);
  const kit = { names: ['work'], concurrency: 9, host: 'h' };
  await backend.workers.register({ id: 'w', queues: ['default'], ...kit });
  const served: string[] = [];
  let leased: readonly Leased[] = [];
  let count = 0;
  for (let step = 0; step < 250; step++) {
    const user = `u${below(6)}`;
    const tasks = Array.from({ length: below(4) }, () => taskOf(`t${count++}`, user));
    if (tasks.length > 0) await backend.tasks.enqueue(tasks, { atomic: false });
    const lease = requestOf(1 + below(4));
    const settlements = leased.map(finished);
    const reply =
      settlements.length === 0
        ? await backend.tasks.lease(lease)
        : (await backend.tasks.settle({ worker: 'w', settlements, lease })).lease;
    leased = reply?.leases ?? [];
    served.push(...leased.map(({ id }) => id));
  }
  return served;
}

const EDGES: NewTask['edges'] = {
  onFailure: 'wait',
  onCancel: 'cancel',
  onMissing: 'refuse',
  allowCrossUser: false,
};

function taskOf(id: string, user: string): NewTask {
  const what = { id, name: 'work', queue: 'default', user, level: 3, cost: 1 } as const;
  return { ...what, payload: '{}', options: '', dependsOn: [], edges: EDGES };
}

it.each([0, 1, 2, 3])('serves in the order of the other backend, course %i', async (nth) => {
  const kit = await kitOn(inject('redisUrl'), freshPrefix());
  const other = memory();
  const orders = [await courseOn(kit.backend, SEED + nth), await courseOn(other, SEED + nth)];
  await other.close();
  expect(orders[0]?.length).toBeGreaterThan(200);
  expect(orders[0]).toEqual(orders[1]);
});
