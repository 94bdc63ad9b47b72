/** A task that finished with many others, and that others read, says so where nothing else can take it away. */
import { Redis } from 'ioredis';
import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import { redisForTests } from '../../src/backends/redis/manual-time.ts';
import type { NewTask } from '../../src/domain/task/task.ts';
import { storeOf } from '../support/copies.ts';
import { HandClock } from '../support/hand-clock.ts';

const NOW = Date.UTC(2026, 0, 5, 12);
const KEPT_MS = 60_000;
const prefix = `read-by-others-${process.pid}`;
const { backend, setTime, dispose } = redisForTests(inject('redisPlace'), { prefix });
const raw = new Redis(inject('redisPlace'));

afterAll(async () => {
  raw.disconnect();
  await dispose();
});

beforeAll(async () => {
  await setTime(NOW);
  await backend.open({
    retention: { finishedMs: KEPT_MS, failedMs: KEPT_MS, canceledMs: KEPT_MS },
  });
  await backend.workers.register({
    id: 'w',
    queues: ['default'],
    names: ['work'],
    concurrency: 9,
    host: 'h',
  });
  await backend.tasks.enqueue([task('a'), task('b'), task('reads', ['a', 'b'])], { atomic: true });
  const { leases } = await backend.tasks.lease(request('first'));
  const decision = { type: 'finish', result: '1' } as const;
  const settlements = leases.map(({ id, token }) => ({ id, token, decision }));
  expect(leases.map(({ id }) => id)).toEqual(['a', 'b']);
  await backend.tasks.settle({ worker: 'w', settlements });
});

it('is copied with how many read it', async () => {
  const clock = new HandClock();
  clock.move(NOW - clock.now());
  const place = { client: raw, prefix, clock: () => clock.now() };
  const { records } = await storeOf(place, clock, { force: true });
  expect(['a', 'b', 'reads'].map((id) => records.get(id)?.optional.readers)).toEqual([1, 1, 0]);
});

it('stays while others read it, also where who listened is lost', async () => {
  await raw.del(`${prefix}:ears`);
  await setTime(NOW + 2 * KEPT_MS);
  await backend.tasks.tick();
  const [a] = await backend.inspect.get(['a']);
  expect(a).toMatchObject({ state: 'finished' });
  expect(await backend.tasks.remove('a')).toEqual({ kind: 'busy' });
});

it('goes when the last one has read it', async () => {
  const { leases } = await backend.tasks.lease(request('second'));
  const [{ id, token } = { id: '', token: '' }] = leases;
  const decision = { type: 'finish', result: '2' } as const;
  await backend.tasks.settle({ worker: 'w', settlements: [{ id, token, decision }] });
  await backend.tasks.tick();
  expect(await backend.inspect.get(['a', 'b'])).toEqual([undefined, undefined]);
  expect(await raw.hkeys(`${prefix}:facts`)).toEqual(['reads']);
});

function task(id: string, dependsOn: readonly string[] = []): NewTask {
  return {
    ...{ id, dependsOn, name: 'work', queue: 'default', user: 'ann', level: 3, cost: 1 },
    ...{ payload: '{}', options: '{}' },
    edges: { onFailure: 'run', onCancel: 'run', onMissing: 'refuse', allowCrossUser: false },
  };
}

function request(requestId: string) {
  const queues = [{ queue: 'default', weight: 1, pass: 0 }];
  return { requestId, worker: 'w', limit: 9, leaseMs: 600_000, queues, wait: false };
}
