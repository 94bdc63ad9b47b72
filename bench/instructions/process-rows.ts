/** Settling the leases of the call before, and leasing as many, in one call: by batch and users. */

import { LIMITS } from '../../src/domain/limits.ts';
import type { Backend } from '../../src/domain/port/backend.ts';
import type { CountedRedis } from './counted-redis.ts';
import { eachFor, fill, openQueue, QUEUE, userOf, type Work, work } from './queue.ts';
import type { Row } from './row.ts';

/** Batches, each with the number of tasks that are counted. */
const BATCHES: readonly Work[] = [
  { batch: 1, tasks: 200 },
  { batch: 10, tasks: 1_600 },
  { batch: 40, tasks: 1_600 },
  { batch: 100, tasks: 3_000 },
];
/** Batches in which weights and features are measured. */
const FEW: readonly Work[] = BATCHES.filter(({ batch }) => batch <= 40);
const USERS = [1, 10, 100, 10_000] as const;

/** In hundredths; users have them in turn. */
const WEIGHTS = [700, 300, 100] as const;
/** The share of a user of the heaviest class relative to an even share, rounded up. */
const HEAVIEST = 2;

export const PROCESS_ROWS: readonly Row[] = [
  ...BATCHES.flatMap((order) => USERS.map((users) => processRow(order, users))),
  ...FEW.map(weightsRow),
];

/** The name of a plain row. */
export function processName(batch: number, users: number): string {
  return `process ${batch}, ${users.toLocaleString('en-US')} user${users === 1 ? '' : 's'}`;
}

/** Why a worker cannot settle and lease so many in one call. */
function tooMany(batch: number): string | undefined {
  const most = LIMITS.settleLeaseBatch;
  return batch > most ? `a call settles and leases at most ${most}` : undefined;
}

function processRow(order: Work, users: number): Row {
  const { batch } = order;
  return {
    name: processName(batch, users),
    isInShare: users === 100,
    impossible: tooMany(batch),
    measure: (redis) =>
      withQueue(redis, async (backend) => {
        await fill(backend, { users, each: eachFor(order, users) });
        return work(redis, backend, order);
      }),
  };
}

function weightsRow(order: Work): Row {
  const users = 100;
  return {
    name: `three weight classes, ${order.batch}`,
    above: processName(order.batch, users),
    measure: (redis) =>
      withQueue(redis, async (backend) => {
        for (let user = 0; user < users; user++) {
          const weight = WEIGHTS[user % WEIGHTS.length] ?? 100;
          if (weight !== 100) await backend.users.set(userOf(user), { weight }, { queue: QUEUE });
        }
        await fill(backend, { users, each: HEAVIEST * eachFor(order, users) });
        return work(redis, backend, order);
      }),
  };
}

/** An empty namespace, closed again. */
export async function withQueue<T>(
  redis: CountedRedis,
  act: (backend: Backend) => Promise<T>,
): Promise<T> {
  const backend = await openQueue(redis);
  try {
    return await act(backend);
  } finally {
    await backend.close();
  }
}
