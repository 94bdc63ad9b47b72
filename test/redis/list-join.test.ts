/** Lists of users are written in steps: a worker that goes in between leaves none behind. */
import { Redis } from 'ioredis';
import { expect, inject, it } from 'vitest';
import type { RedisClient } from '../../src/backends/redis/connection/client.ts';
import { redisForTests } from '../../src/backends/redis/manual-time.ts';
import { LIMITS } from '../../src/domain/limits.ts';
import type { Backend } from '../../src/domain/port/backend.ts';
import { atEnd, freshPrefix } from './faults/kit.ts';

const START = Date.UTC(2026, 0, 5, 12);
const USERS = Array.from({ length: 450 }, (_, at) => `user${at}`);
const SPEC = { id: 'w', host: 'h', concurrency: 1, queues: ['default'], names: ['work'] };

interface Scene {
  readonly backend: Backend;
  /** Called before the second step that writes names. */
  between: () => Promise<void>;
  advance(ms: number): Promise<void>;
  /** What is stored of lists. */
  lists(): Promise<readonly string[]>;
}

async function scene(): Promise<Scene> {
  const raw = new Redis(inject('redisPlace'));
  const redis = new Redis(inject('redisPlace'));
  const client = redis as unknown as RedisClient;
  const call = client.call.bind(client);
  let steps = 0;
  client.call = async (command, args) => {
    const [script, , , , , , write] = args;
    if (String(script).endsWith('_listJoin') && write === '1') steps++;
    if (steps === 2) {
      steps++;
      await made.between();
    }
    return call(command, args);
  };
  const prefix = freshPrefix();
  const { backend, setTime, dispose } = redisForTests(client, { prefix });
  atEnd(async () => {
    await dispose();
    raw.disconnect();
    redis.disconnect();
  });
  let now = START;
  await setTime(now);
  const made: Scene = {
    backend,
    between: async () => undefined,
    advance: (ms) => {
      now += ms;
      return setTime(now);
    },
    lists: async () => {
      const keys = await raw.keys(`${prefix}:*list*`);
      return keys.map((key) => key.slice(prefix.length + 1)).sort();
    },
  };
  return made;
}

it('one that leaves is on no list', async () => {
  const made = await scene();
  made.between = () => made.backend.workers.unregister('w');
  await made.backend.workers.register({ ...SPEC, assignedUsers: USERS }, { starts: true });
  expect(await made.lists()).toEqual([]);
});

it('one that comes with others is on these alone', async () => {
  const made = await scene();
  const others = { ...SPEC, assignedUsers: ['ann'] };
  made.between = () => made.backend.workers.register(others);
  await made.backend.workers.register({ ...SPEC, assignedUsers: USERS }, { starts: true });
  await made.backend.tasks.tick();
  const kinds = ['list', 'list-names', 'list-workers'];
  const lists = await made.lists();
  expect(lists.map((key) => key.split(':')[0]).sort()).toEqual([...kinds, 'listed-workers']);
});

it('one that dies is on no list once it is silent', async () => {
  const made = await scene();
  made.between = () => Promise.reject(new Error('it has died'));
  const dies = made.backend.workers.register({ ...SPEC, assignedUsers: USERS }, { starts: true });
  await expect(dies).rejects.toThrow('it has died');
  expect(await made.lists()).not.toEqual([]);
  await made.advance(LIMITS.workerSilenceMs + 1);
  for (let ticks = 0; ticks < 20; ticks++) await made.backend.tasks.tick();
  expect(await made.lists()).toEqual([]);
});
