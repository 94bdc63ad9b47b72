/** The named cases about the queue itself that need no worker of the engine, or a bad record. */
import { beforeEach, expect, it } from 'vitest';
import type { Backend, Leased } from '../../../src/domain/port/backend.ts';
import type { NewTask } from '../../../src/domain/task/task.ts';
import { task } from '../../../src/workflow/task-definition.ts';
import { eachBackend, opened } from '../../support/backends.ts';

const QUEUE = 'default';

function newTask(id: string, user: string, payload = '{}'): NewTask {
  return {
    id,
    user,
    payload,
    name: 'work',
    queue: QUEUE,
    level: 3,
    cost: 1,
    options: '{}',
    dependsOn: [],
    edges: { onFailure: 'wait', onCancel: 'cancel', onMissing: 'refuse', allowCrossUser: false },
  };
}

let requests = 0;

async function lease(backend: Backend, limit: number): Promise<readonly Leased[]> {
  requests += 1;
  const { leases } = await backend.tasks.lease({
    requestId: `request${requests}`,
    worker: 'w',
    limit,
    leaseMs: 1_000,
    queues: [{ queue: QUEUE, weight: 1, pass: 0 }],
    wait: false,
  });
  return leases;
}

eachBackend((open) => {
  const harness = opened(open);
  beforeEach(async () => {
    const names = ['work'];
    const spec = { id: 'w', queues: [QUEUE], names, concurrency: 10, host: 'test' };
    await harness.backend.workers.register(spec);
  });

  // O25
  it('one task that cannot be read ends alone; the nine of its batch go on', async () => {
    const done: unknown[] = [];
    const work = task('work', async (input: unknown) => void done.push(input));
    const ids = Array.from({ length: 10 }, (_, at) => `t${at}`);
    await harness.backend.tasks.enqueue(
      ids.map((id, at) => newTask(id, 'ann', at === 4 ? '{"cut' : String(at))),
      { atomic: true },
    );
    await harness.loom([work]).worker().start();
    await harness.until(async () => (await harness.backend.inspect.stats()).counts.finished === 9);
    expect(done).toEqual([0, 1, 2, 3, 5, 6, 7, 8, 9]);
    const [bad] = await harness.backend.inspect.get(['t4']);
    expect(bad).toMatchObject({
      state: 'failed',
      cause: { type: 'fatal', failure: 'invalid-payload' },
    });
  });

  // O29
  it('after each turn every user has its share of all turns, to within one', async () => {
    const users = ['a', 'b', 'c', 'd'];
    const tasks = users.flatMap((user) =>
      Array.from({ length: 50 }, (_, at) => newTask(`${user}${at}`, user)),
    );
    await harness.backend.tasks.enqueue(tasks, { atomic: true });
    const turns = new Map(users.map((user) => [user, 0]));
    for (let turn = 1; turn <= 200; turn += 1) {
      const [leased] = await lease(harness.backend, 1);
      const { id = '', token = '', user = '' } = leased ?? {};
      turns.set(user, (turns.get(user) ?? 0) + 1);
      for (const count of turns.values()) expect(Math.abs(count - turn / 4)).toBeLessThanOrEqual(1);
      const settlement = { id, token, decision: { type: 'finish', result: '1' } } as const;
      await harness.backend.tasks.settle({ worker: 'w', settlements: [settlement] });
    }
    expect([...turns.values()]).toEqual([50, 50, 50, 50]);
  });

  // O39
  it('the task of a dead worker counts as running until its lease ends, and no longer', async () => {
    const { users, queues, tasks, inspect } = harness.backend;
    await users.set('ann', { maxRunning: 1 }, { queue: QUEUE });
    await tasks.enqueue([newTask('one', 'ann'), newTask('two', 'ann')], { atomic: true });
    const [leased] = await lease(harness.backend, 10);
    expect(await users.get('ann', QUEUE)).toMatchObject({ running: 1, ready: false });
    const [record] = await inspect.get(['one']);
    expect(record?.leaseUntil).toBe((leased?.leasedAt ?? 0) + 1_000);
    await harness.clock.advance('1s');
    await tasks.tick();
    expect(await users.get('ann', QUEUE)).toMatchObject({ running: 0, ready: true });
    expect(await queues.get(QUEUE)).toMatchObject({
      counts: { started: 0, queued: 2 },
      runnable: 1,
    });
  });
});
