/**
 * A settle that leases, as most calls are: by straight code, where nothing is otherwise. A worker that has just begun holds the
 * alarm, so each case leases once before.
 */
import { expect, inject, it } from 'vitest';
import type { UserPatch } from '../../src/domain/fairness/settings.ts';
import type { Backend } from '../../src/domain/port/backend.ts';
import type { Leased, LeaseRequest, Settlement } from '../../src/domain/port/leasing.ts';
import type { NewTask } from '../../src/domain/task/task.ts';
import { memory } from '../../src/index.ts';
import { randomOf } from '../support/file/faulty-disk.ts';
import { adminOf, freshPrefix, kitOn, manualKitOn } from './faults/kit.ts';

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
async function setUp(isManual = false) {
  const prefix = freshPrefix();
  const url = inject('redisUrl');
  const kit = isManual ? await manualKitOn(url, undefined, prefix) : await kitOn(url, prefix);
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

const NO_SETTINGS = { weight: null, maxRunning: null, rate: null, paused: null };
/** What a user may be given between two steps; a rate that allows a few starts, and then none. */
const PATCHES: readonly UserPatch[] = [
  { weight: 300 },
  { weight: 35 },
  { paused: true },
  { paused: false },
  { maxRunning: 1 },
  { maxRunning: 500 },
  { rate: { limit: 1, perMs: 86_400_000, burst: 20 } },
  NO_SETTINGS,
  NO_SETTINGS,
];

/**
 * What a random course of enqueues and steps serves, in order. `isSettled`: users have settings, which change, and tasks of
 * several levels.
 */
async function courseOn(
  backend: Backend,
  seed: number,
  isSettled = false,
): Promise<readonly string[]> {
  const random = randomOf(seed);
  const below = (most: number): number => Math.floor(random() * most);
  const kit = { names: ['work'], concurrency: 9, host: 'h' };
  await backend.workers.register({ id: 'w', queues: ['default'], ...kit });
  const served: string[] = [];
  let leased: readonly Leased[] = [];
  let count = 0;
  for (let step = 0; step < 250; step++) {
    const user = `u${below(6)}`;
    const level = isSettled && below(3) === 0 ? 5 : 3;
    const tasks = Array.from({ length: below(4) }, () => taskOf(`t${count++}`, user, level));
    const patch = isSettled && below(8) === 0 ? PATCHES[below(PATCHES.length)] : undefined;
    if (patch !== undefined) await backend.users.set(`u${below(6)}`, patch, { queue: 'default' });
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

function taskOf(id: string, user: string, level: NewTask['level'] = 3): NewTask {
  const what = { id, name: 'work', queue: 'default', user, level, cost: 1 } as const;
  return { ...what, payload: '{}', options: '', dependsOn: [], edges: EDGES };
}

it.each([
  [0, false],
  [1, false],
  [2, false],
  [3, false],
  [4, true],
  [5, true],
  [6, true],
  [7, true],
])('serves in the order of the other backend, course %i, settings: %s', async (nth, isSettled) => {
  const kit = await kitOn(inject('redisUrl'), freshPrefix());
  const other = memory();
  const orders = [
    await courseOn(kit.backend, SEED + nth, isSettled),
    await courseOn(other, SEED + nth, isSettled),
  ];
  await other.close();
  expect(orders[0]?.length).toBeGreaterThan(isSettled ? 100 : 200);
  expect(orders[0]).toEqual(orders[1]);
  expect((await kit.backend.inspect.reconcile({ repair: false })).drift).toEqual([]);
});

it('starts what a rate allows, and the next when it is just due', async () => {
  const { kit, next, second } = await setUp(true);
  await kit.backend.users.set('eve', { rate: { limit: 1, perMs: 1_000, burst: 1 } }, {});
  await next([finished(second)]);
  await kit.leaseIds(5);
  await kit.send({ id: 'one', user: 'eve' }, { id: 'two', user: 'eve' });
  expect(await kit.leaseIds(5)).toEqual(['one']);
  await kit.advance(999);
  expect(await kit.leaseIds(5)).toEqual([]);
  await kit.advance(1);
  expect(await kit.leaseIds(5)).toEqual(['two']);
});

it('says with each lease what its queue says of its tasks, as it stands now', async () => {
  const { kit, next, second } = await setUp(true);
  const settled: Settlement[] = [finished(second)];
  for (const leaseMs of [5_000, 7_000]) {
    await kit.backend.queues.set('default', { leaseMs, timeoutMs: leaseMs / 5 });
    const reply = await next(settled.splice(0));
    const [leased] = reply.lease?.leases ?? [];
    if (leased === undefined) throw new Error('nothing leased');
    expect(leased.leaseUntil).toBe(kit.now() + leaseMs);
    expect(leased.attemptSettings).toEqual({ timeoutMs: leaseMs / 5 });
    settled.push(finished(leased));
  }
  await kit.backend.queues.set('default', { paused: true });
  expect((await next(settled)).lease?.leases).toEqual([]);
});

it('wakes the holder of the alarm for a lease that ends sooner', async () => {
  const { kit, prefix, next, second } = await setUp(true);
  const raw = adminOf();
  await next([finished(second)]);
  await kit.leaseIds(5);
  for (const worker of ['first', 'holder']) await kit.worker(worker);
  for (const worker of ['first', 'holder']) {
    expect((await kit.leaseReply({ worker, wait: true })).waitMs).toBeGreaterThan(1_000);
    await kit.advance(1);
  }
  await kit.add();
  const told = (): Promise<number[]> =>
    Promise.all(['first', 'holder'].map((worker) => raw.llen(`${prefix}:wake:${worker}`)));
  expect(await told()).toEqual([1, 0]);
  const { lease } = await next([], { ...requestOf(1), leaseMs: 1_000 });
  expect(lease?.leases).toHaveLength(1);
  expect(await told()).toEqual([1, 1]);
});

it('wakes a worker that stands in line when it leaves work behind', async () => {
  const { kit, prefix, next, second } = await setUp();
  const raw = adminOf();
  await next([finished(second)]);
  await kit.leaseIds(5);
  const idle = ['idle', 'idler', 'idlest'];
  for (const worker of idle) {
    await kit.worker(worker);
    const { waitMs } = await kit.leaseReply({ worker, limit: 1, wait: true });
    expect(waitMs).toBeGreaterThan(0);
  }
  // Each that comes wakes one; what is left behind by the lease of another wakes the next.
  await kit.addMany(2, { user: 'ann' });
  expect((await next([])).lease?.leases).toHaveLength(1);
  const lengths = await Promise.all(idle.map((worker) => raw.llen(`${prefix}:wake:${worker}`)));
  expect(lengths).toEqual([1, 1, 1]);
});

it('tells of each task that is tried again which attempt it is, also of several that are told alike', async () => {
  const { kit, next, second } = await setUp();
  const cause = { type: 'attempts', failure: 'error', made: 1, of: 4 } as const;
  const retry = { type: 'retry', delayMs: 0, cause, error: '{}' } as const;
  const three = (await next([finished(second)], requestOf(3))).lease?.leases ?? [];
  const settlements = three.map(({ id, token }) => ({ id, token, decision: retry }));
  const again = (await next(settlements, requestOf(3))).lease?.leases ?? [];
  const told = again.map(({ id, attempt }) => ({ id, attempt }));
  expect(told).toEqual(three.map(({ id }) => ({ id, attempt: 2 })));
  expect(await kit.state(second.id)).toBe('finished');
});

it('a signal wakes a task of a user with settings, which count it', async () => {
  const { kit, next, second } = await setUp();
  const [target = '', waits = ''] = [
    await kit.add({ delayMs: 60_000 }),
    await kit.add({ user: 'u' }),
  ];
  await kit.backend.users.set('u', { maxRunning: 1 }, { queue: 'default' });
  let leased: Leased | undefined = second;
  while (leased !== undefined && leased.id !== waits) {
    leased = (await next([finished(leased)])).lease?.leases[0];
  }
  const { id, token } = leased ?? { id: '', token: '' };
  const wait = { for: { kind: 'signal', name: 'go', targets: [target] }, entry: '=s:1' } as const;
  const decision = { type: 'suspend', waitFor: [], wakeOn: 'all', wait } as const;
  await kit.backend.tasks.settle({ worker: 'w', settlements: [{ id, token, decision }] });
  const signal = { name: 'go', payload: '1' };
  expect((await kit.backend.waits.signal(target, signal)).kind).toBe('delivered');
  expect(await kit.user('u')).toMatchObject({ queued: 1, running: 0, later: 0 });
  expect(await kit.state(waits)).toBe('queued');
});
