/** A call that settles tasks of a user who has not yet heard of new settings of the queue. */
import { expect, inject, it } from 'vitest';
import { redisForTests } from '../../src/backends/redis/manual-time.ts';
import { LIMITS } from '../../src/domain/limits.ts';
import type { NewTask } from '../../src/domain/task/task.ts';
import { freshPrefix, RETENTION } from './faults/kit.ts';

function taskOf(user: string, id: string): NewTask {
  return {
    id,
    name: 'job',
    queue: 'default',
    user,
    level: 3,
    cost: 1,
    payload: '{}',
    options: '',
    dependsOn: [],
    edges: { onFailure: 'run', onCancel: 'cancel', onMissing: 'satisfied', allowCrossUser: true },
  };
}

it('ends each once, though the first makes a record of all that the user runs', async () => {
  const { backend, setTime, dispose } = redisForTests(inject('redisPlace'), {
    prefix: freshPrefix(),
  });
  await setTime(Date.UTC(2026, 0, 5, 12));
  await backend.open({ retention: RETENTION });
  await backend.workers.register({
    id: 'w',
    queues: ['default'],
    names: ['job'],
    concurrency: 9,
    host: 'h',
  });
  const enqueue = (tasks: readonly NewTask[]): Promise<unknown> =>
    backend.tasks.enqueue(tasks, { atomic: false });
  // The last by name: it hears last.
  await enqueue([taskOf('zoe', 'one'), taskOf('zoe', 'two'), taskOf('zoe', 'three')]);
  const { leases } = await backend.tasks.lease({
    requestId: 'request000001',
    worker: 'w',
    limit: 2,
    leaseMs: 60_000,
    queues: [{ queue: 'default', weight: 1, pass: 0 }],
    wait: false,
  });
  const many = Array.from(
    { length: 2 * LIMITS.refreshAtOnce },
    (_, at) => `u${String(at).padStart(4, '0')}`,
  );
  await enqueue(many.map((user) => taskOf(user, `of-${user}`)));
  await backend.queues.set('default', { perUser: { maxRunning: 5 } });
  const cause = { type: 'attempts', failure: 'error', made: 1, of: 1 } as const;
  const [first, second] = leases;
  if (first === undefined || second === undefined) throw new Error('two were leased');
  await backend.tasks.settle({
    worker: 'w',
    settlements: [
      { ...first, decision: { type: 'dead-letter', cause, error: '{}' } },
      { ...second, decision: { type: 'finish', result: '1' } },
    ],
  });
  const told = await backend.inspect.get(['one', 'two', 'three']);
  expect(told.map((task) => task?.state)).toEqual(['failed', 'finished', 'queued']);
  const user = await backend.users.get('zoe', 'default');
  expect(user).toMatchObject({ running: 0, queued: 1 });
  const report = await backend.inspect.reconcile({ repair: false });
  expect(report.drift).toEqual([]);
  await dispose();
});
