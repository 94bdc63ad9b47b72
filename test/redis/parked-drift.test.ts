/** Parked tasks whose places are lost are found out, and run again by a worker that knows them. */
import { Redis } from 'ioredis';
import { afterAll, afterEach, beforeEach, describe, expect, inject, it } from 'vitest';
import { redisForTests } from '../../src/backends/redis/manual-time.ts';
import type { LeaseReply } from '../../src/domain/port/backend.ts';
import type { NewTask } from '../../src/domain/task/task.ts';

const NOW = Date.UTC(2026, 0, 5, 12);
const raw = new Redis(inject('redisUrl'));
let requests = 0;
let prefix = '';
let opened: ReturnType<typeof redisForTests>;
afterAll(() => raw.disconnect());

function newTask(id: string, name: string): NewTask {
  return {
    ...{ id, name, dependsOn: [], queue: 'default', user: 'ann', level: 3, cost: 1 },
    ...{ payload: '{}', options: '{}' },
    edges: { onFailure: 'wait', onCancel: 'wait', onMissing: 'block', allowCrossUser: false },
  };
}

function lease(worker: string): Promise<LeaseReply> {
  requests += 1;
  const queues = [{ queue: 'default', weight: 1, pass: 0 }];
  const request = { worker, queues, limit: 5, leaseMs: 1_000, wait: false };
  return opened.backend.tasks.lease({ ...request, requestId: `r${requests}` });
}

// F69
describe('a place of a parked task', () => {
  beforeEach(async () => {
    requests += 1;
    prefix = `parked-drift-${process.pid}-${requests}`;
    opened = redisForTests(inject('redisPlace'), { prefix });
    await opened.setTime(NOW);
    for (const [id, name] of [
      ['knows', 'strange'],
      ['other', 'work'],
    ] as const) {
      const spec = { id, names: [name], queues: ['default'], concurrency: 5, host: 'test' };
      await opened.backend.workers.register(spec);
    }
    await opened.backend.tasks.enqueue([newTask('a', 'strange'), newTask('b', 'strange')], {
      atomic: true,
    });
    expect((await lease('other')).leases).toEqual([]);
    expect((await opened.backend.inspect.reconcile({ repair: true })).drift).toEqual([]);
  });

  afterEach(() => opened.dispose());

  it.each([
    'parked-names',
    'parked-users:strange',
    'parked-of-name:strange',
    'parked',
    'deadlines',
  ])('that is lost, as %s, is found and repaired', async (key) => {
    expect(await raw.del(`${prefix}:${key}`)).toBe(1);
    expect((await opened.backend.inspect.reconcile({ repair: false })).drift).not.toEqual([]);
    await opened.backend.inspect.reconcile({ repair: true });
    expect((await opened.backend.inspect.reconcile({ repair: true })).drift).toEqual([]);
    expect((await lease('knows')).leases.map(({ id }) => id)).toEqual(['a', 'b']);
  });

  it('whose record is gone is cleaned by the next step that comes to it', async () => {
    await raw.hdel(`${prefix}:tasks`, 'a');
    expect((await lease('knows')).leases.map(({ id }) => id)).toEqual(['b']);
    await opened.backend.inspect.reconcile({ repair: true });
    expect((await opened.backend.inspect.reconcile({ repair: true })).drift).toEqual([]);
  });
});
