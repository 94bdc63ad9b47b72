/**
 * The cost of features on top of a plain task in the same calls: 40 tasks of 100 users, from
 * storing to settling.
 */

import { LIMITS } from '../../src/domain/limits.ts';
import type { Backend } from '../../src/domain/port/backend.ts';
import type { NewTask } from '../../src/domain/task/task.ts';
import { Countdown } from './countdown.ts';
import type { CountedRedis } from './counted-redis.ts';
import { processName, withQueue } from './process-rows.ts';
import {
  eachFor,
  type Fields,
  fill,
  idOf,
  newTask,
  openQueue,
  QUEUE,
  settledBy,
  store,
  tickAll,
  userOf,
  type Work,
  work,
} from './queue.ts';
import type { Row } from './row.ts';

/** The work with and without a feature. */
export const ORDER: Work = { batch: 40, tasks: 1_600 };
export const USERS = 100;
const EACH = eachFor(ORDER, USERS);
const ABOVE = processName(ORDER.batch, USERS);
const LEVELS = [3, 4, 5] as const;
/** Members of a join. */
const MEMBERS = 100;
/** How long a caller waits for an end, in ms: longer than the row takes. */
const WAIT_MS = 3_600_000;
/** How long ended tasks are kept, in ms: the minimum. */
const RETAINED_MS = LIMITS.resendMs;
/** Removed tasks. */
const RETAINED = 1_000;

export const FEATURE_ROWS: readonly Row[] = [
  onTop('three levels at once', {
    fields: (_user, nth) => ({ level: LEVELS[nth % LEVELS.length] ?? 3 }),
    // Tasks of the levels above are taken more often.
    each: 2 * EACH,
  }),
  onTop('maxRunning, not reached', {
    before: (backend) => setAll(backend, { maxRunning: 500 }),
  }),
  onTop('rate, not reached', {
    before: (backend) => setAll(backend, { rate: { limit: 1e6, perMs: 1_000, burst: 1e6 } }),
  }),
  awaitedRow(),
  onTop('member of a join, one join in a call', {
    stored: (backend) =>
      storeJoins(backend, EACH, (at) => membersOf(MEMBERS, (user) => [user, at])),
    after: tickAll,
  }),
  onTop('member of a join, each in its own', {
    each: MEMBERS,
    stored: (backend) => storeJoins(backend, USERS, (at) => membersOf(MEMBERS, (nth) => [at, nth])),
    after: tickAll,
  }),
  onTop('retry at once', {
    decision: {
      type: 'retry',
      delayMs: 0,
      cause: { type: 'attempts', failure: 'error', made: 1, of: 4 },
      error: '{"name":"Error","message":"no"}',
    },
  }),
  delayedRow(),
  removalRow(),
];

interface Feature {
  readonly before?: (backend: Backend) => Promise<void>;
  readonly fields?: Fields;
  readonly each?: number;
  readonly stored?: (backend: Backend) => Promise<void>;
  readonly after?: (backend: Backend) => Promise<void>;
  readonly decision?: NonNullable<Work['decision']>;
}

/** A row for the additional cost of a feature. */
export function onTop(name: string, feature: Feature): Row {
  const { before, fields, each = EACH, stored, after, decision } = feature;
  return {
    name,
    above: ABOVE,
    measure: (redis) =>
      withQueue(redis, async (backend) => {
        await before?.(backend);
        await fill(backend, { users: USERS, each, ...(fields === undefined ? {} : { fields }) });
        await stored?.(backend);
        return work(redis, backend, {
          ...ORDER,
          ...(decision === undefined ? {} : { decision }),
          ...(after === undefined ? {} : { after: () => after(backend) }),
        });
      }),
  };
}

async function setAll(
  backend: Backend,
  patch: Parameters<Backend['users']['set']>[1],
): Promise<void> {
  for (let user = 0; user < USERS; user++) {
    await backend.users.set(userOf(user), patch, { queue: QUEUE });
  }
}

/** A caller waits for the end of each task; counted from the start of the wait to the result. */
function awaitedRow(): Row {
  return {
    name: 'end awaited',
    above: ABOVE,
    measure: (redis) =>
      withQueue(redis, async (backend) => {
        await fill(backend, { users: USERS, each: EACH });
        const { inspect } = backend;
        const stop = new AbortController();
        const told = new Countdown(settledBy(ORDER));
        const wait = async (id: string): Promise<void> => {
          const ended = await inspect.waitForEnd(id, WAIT_MS, stop.signal);
          if (stop.signal.aborted) return;
          if (ended?.state !== 'finished') throw new Error(`no answer tells how ${id} ended`);
          told.down();
        };
        const ids = membersOf(USERS * EACH, (at) => [at % USERS, Math.floor(at / USERS)]);
        const waits = ids.map(wait);
        await redis.rest();
        const instructions = await work(redis, backend, { ...ORDER, after: () => told.zero });
        stop.abort();
        await Promise.all(waits);
        return instructions;
      }),
  };
}

/** Tasks that become ready with the end of others, and do nothing themselves. */
async function storeJoins(
  backend: Backend,
  count: number,
  membersOf: (at: number) => readonly string[],
): Promise<void> {
  for (let at = 0; at < count; at++) {
    const join: NewTask = newTask(USERS + 1, at, {
      dependsOn: membersOf(at),
      edges: { onFailure: 'run', onCancel: 'run', onMissing: 'satisfied', allowCrossUser: true },
      join: true,
    });
    await store(backend, [join]);
  }
}

function membersOf(count: number, at: (nth: number) => readonly [number, number]) {
  return Array.from({ length: count }, (_, nth) => idOf(...at(nth)));
}

/** They are due together, and a tick makes them ready: it counts for all of them. */
function delayedRow(): Row {
  return {
    name: 'delay',
    above: ABOVE,
    measure: (redis) =>
      withQueue(redis, async (backend) => {
        await fill(backend, { users: USERS, each: EACH, fields: () => ({ delayMs: 1 }) });
        await redis.rest();
        const promotion = await redis.count(() => tickAll(backend));
        return promotion / (USERS * EACH) + (await work(redis, backend, ORDER));
      }),
  };
}

/** Ticks remove the ended tasks, once their retention is over. */
function removalRow(): Row {
  return {
    name: 'removal at the end of retention',
    measure: (redis) => removal(redis),
  };
}

async function removal(redis: CountedRedis): Promise<number> {
  const backend = await openQueue(redis, RETAINED_MS);
  try {
    await fill(backend, { users: USERS, each: eachFor({ batch: 40, tasks: RETAINED }, USERS) });
    await work(redis, backend, { batch: 40, tasks: RETAINED });
    const { finished: before } = (await backend.inspect.stats()).counts;
    await new Promise((resolve) => setTimeout(resolve, RETAINED_MS + 1_000));
    const instructions = await redis.count(() => tickAll(backend));
    const removed = before - (await backend.inspect.stats()).counts.finished;
    if (removed < RETAINED) throw new Error(`${removed} tasks were removed of ${before}`);
    return instructions / removed;
  } finally {
    await backend.close();
  }
}
