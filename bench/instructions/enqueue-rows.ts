/** Storing tasks of 100 users who all have tasks in line. */
import { fill, newTask, openQueue } from './queue.ts';
import type { Row } from './row.ts';

const USERS = 100;
/** The first is stored before; the counted calls store others. */
const WARM_CALLS = 3;

export const ENQUEUE_ROWS: readonly Row[] = [
  { ...enqueueRow('enqueue 1', { batch: 1, calls: 200 }), isInShare: true },
  { ...enqueueRow('enqueue 20', { batch: 20, calls: 100 }), isInShare: true },
  { ...enqueueRow('enqueue 1,000', { batch: 1_000, calls: 4 }), isInShare: true },
  enqueueRow('enqueue 1,000, all or none', { batch: 1_000, calls: 4, atomic: true }),
];

interface Calls {
  /** Tasks of a call, all of one user. */
  readonly batch: number;
  readonly calls: number;
  readonly atomic?: boolean;
}

function enqueueRow(name: string, { batch, calls, atomic = false }: Calls): Row {
  return {
    name,
    measure: async (redis) => {
      const backend = await openQueue(redis);
      try {
        await fill(backend, { users: USERS, each: 1 });
        const next = new Array<number>(USERS).fill(1);
        const call = async (at: number): Promise<void> => {
          const user = at % USERS;
          const from = next[user] ?? 0;
          next[user] = from + batch;
          const tasks = Array.from({ length: batch }, (_, nth) => newTask(user, from + nth));
          const replies = await backend.tasks.enqueue(tasks, { atomic });
          if (replies.some(({ kind }) => kind !== 'created')) throw new Error('not stored');
        };
        for (let at = 0; at < WARM_CALLS; at++) await call(at);
        await redis.rest();
        const instructions = await redis.count(async () => {
          for (let at = 0; at < calls; at++) await call(WARM_CALLS + at);
        });
        return instructions / (calls * batch);
      } finally {
        await backend.close();
      }
    },
  };
}
