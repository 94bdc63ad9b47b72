/** Sets of dependencies whose task is gone are found out, and repaired once. */
import { Redis } from 'ioredis';
import { afterAll, expect, inject, it } from 'vitest';
import { redisForTests } from '../../src/backends/redis/manual-time.ts';
import type { NewTask } from '../../src/domain/task/task.ts';

const NOW = Date.UTC(2026, 0, 5, 12);
const prefix = `deps-drift-${process.pid}`;
const { backend, setTime, dispose } = redisForTests(inject('redisPlace'), { prefix });
const raw = new Redis(inject('redisUrl'));

afterAll(async () => {
  raw.disconnect();
  await dispose();
});

function newTask(id: string, dependsOn: readonly string[]): NewTask {
  const onCancel = id === 'waits' ? 'run' : 'wait';
  return {
    ...{ id, dependsOn, name: 'work', queue: 'default', user: 'ann', level: 3, cost: 1 },
    ...{ payload: '{}', options: '{}' },
    edges: { onFailure: 'wait', onCancel, onMissing: 'block', allowCrossUser: false },
  };
}

it('reconcile finds sets of dependencies whose task is gone', async () => {
  await setTime(NOW);
  const { tasks, inspect } = backend;
  const edges = [
    ['up', []],
    ['held', []],
    ['waits', ['up']],
    ['later', ['never']],
  ] as const;
  await tasks.enqueue(
    edges.map(([id, dependsOn]) => newTask(id, dependsOn)),
    { atomic: true },
  );
  await tasks.cancel('held', { type: 'request' });
  await tasks.enqueue([newTask('gone', ['up']), newTask('holds', ['held'])], { atomic: true });
  expect((await inspect.reconcile({ repair: true })).drift).toEqual([]);
  await raw.hdel(`${prefix}:tasks`, 'up', 'gone', 'held');
  await raw.zadd(`${prefix}:deps:waiting:stray`, NOW, 'nobody');
  const found = ['blocked gone', 'redrive held', 'waiting stray', 'waiting up'];
  const ofDependencies = (drift: readonly string[]): readonly string[] =>
    drift.flatMap((line) => {
      const [, id, kind] = /^dependencies of (\w+): (\w+), but not stored$/.exec(line) ?? [];
      return id === undefined ? [] : [`${kind} ${id}`];
    });
  const looked = await inspect.reconcile({ repair: false });
  expect([...ofDependencies(looked.drift)].sort()).toEqual(found);
  expect(await raw.exists(`${prefix}:deps:waiting:stray`)).toBe(1);
  const repaired = await inspect.reconcile({ repair: true });
  expect([...ofDependencies(repaired.drift)].sort()).toEqual(found);
  expect((await inspect.reconcile({ repair: true })).drift).toEqual([]);
  const left = await raw.keys(`${prefix}:deps:*`);
  expect(left.map((key) => key.slice(prefix.length + 6)).sort()).toEqual(
    [
      'blocked:holds',
      'blocked:later',
      'blocked:waits',
      'missing:2:upann',
      'missing:4:heldann',
      'missing:5:neverann',
    ].sort(),
  );
  // Who waits for one that is gone goes on once it is stored anew.
  expect(await inspect.missing()).toBe(3);
  await tasks.enqueue([newTask('up', [])], { atomic: true });
  await tasks.cancel('up', { type: 'request' });
  expect((await inspect.get(['waits']))[0]).toMatchObject({ state: 'queued' });
});
