import type { Bench, BenchContext, Figures } from '../kit/bench.ts';
import { HUNDRED_BYTES } from '../kit/payload.ts';
import type { RedisSideName } from '../kit/side.ts';
import { REDIS_SIDES } from '../kit/sides.ts';
import { rounded } from '../kit/statistics.ts';
import { openSide } from '../sides/open-side.ts';

const USERS = 1_000;
/** Of each user. */
const TASKS = 100;

export const waitingMemory: Bench = {
  name: 'waiting-memory',
  about:
    '100,000 waiting tasks, 100 of each of 1,000 users, payload 100 bytes: growth of ' +
    '`used_memory` per task, all indexes included.',
  sides: REDIS_SIDES.map((name) => ({ name, run: (context) => memoryRound(context, name) })),
  rows: [
    {
      table: 'redis',
      measure: 'memory per waiting task',
      metrics: ['bytes'],
      unit: 'bytes',
      better: 'less',
      goals: [{ kind: 'most', metric: 'bytes', value: 500 }],
    },
  ],
};

async function memoryRound(context: BenchContext, side: RedisSideName): Promise<Figures> {
  const redis = await context.redis();
  const producer = await (await openSide(side)).producer(redis.url);
  const users = context.size(USERS);
  try {
    // The first task makes one-time objects: scripts, the queue's own keys.
    await producer.add({ payload: HUNDRED_BYTES, user: 'first' });
    const before = await redis.snapshot();
    for (let user = 0; user < users; user++) {
      const work = { payload: HUNDRED_BYTES, user: `user-${user}` };
      await producer.addMany(new Array(TASKS).fill(work));
    }
    const after = await redis.snapshot();
    return { bytes: rounded((after.memory - before.memory) / (users * TASKS)) };
  } finally {
    await producer.close();
  }
}
