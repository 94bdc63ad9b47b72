/** One round of storing tasks, in one of the three ways in which callers store them. */
import { openSide } from '../sides/open-side.ts';
import type { BenchContext, Figures } from './bench.ts';
import { type BenchRedis, serverCost } from './bench-redis.ts';
import { cpuUs } from './now.ts';
import { HUNDRED_BYTES } from './payload.ts';
import type { Producer, RedisSideName, Work } from './side.ts';
import { rounded } from './statistics.ts';

/** How many go into one call of `addMany`. */
const BATCH = 1_000;
/** Callers of one process that each wait for their own answer. */
const IN_FLIGHT = 100;
/** The tasks belong to this many users, in turn. */
export const USERS = 100;

export type EnqueueWay = 'batches' | 'in-flight' | 'one-by-one';

/** The interface that stores tasks. */
export type Adder = Omit<Producer, 'close'>;

export interface EnqueueRound {
  readonly side: RedisSideName;
  readonly way: EnqueueWay;
  readonly tasks: number;
  readonly durable?: boolean;
}

/** Tasks/s, and the time per task of this process and of the server. */
export async function enqueueRound(context: BenchContext, round: EnqueueRound): Promise<Figures> {
  const redis = await (round.durable === true ? context.durableRedis() : context.redis());
  const producer = await (await openSide(round.side)).producer(redis.url);
  try {
    const before = await redis.snapshot();
    const cpu = process.cpuUsage();
    const started = performance.now();
    await storeTasks(producer, round.way, round.tasks);
    const ms = performance.now() - started;
    const clientCpuUs = cpuUs(cpu);
    const after = await redis.snapshot();
    return {
      perSecond: rounded((round.tasks / ms) * 1_000),
      clientCpuUs: rounded(clientCpuUs / round.tasks),
      ...serverCost(before, after, round.tasks),
    };
  } finally {
    await producer.close();
  }
}

/** Stores tasks for workers. */
export async function fill(redis: BenchRedis, side: RedisSideName, tasks: number): Promise<void> {
  const producer = await (await openSide(side)).producer(redis.url);
  await storeTasks(producer, 'batches', tasks);
  await producer.close();
}

/** In one of the ways, one call after the other. */
export function storeTasks(producer: Adder, way: EnqueueWay, tasks: number): Promise<void> {
  return WAYS[way](producer, tasks);
}

/** From this many callers at once; each stores its next task when the last was stored. */
export async function addInFlight(
  producer: Pick<Producer, 'add'>,
  tasks: number,
  workOf: (at: number) => Work,
): Promise<void> {
  let next = 0;
  const caller = async (): Promise<void> => {
    while (next < tasks) await producer.add(workOf(next++));
  };
  await Promise.all(Array.from({ length: IN_FLIGHT }, caller));
}

const WAYS: Readonly<Record<EnqueueWay, (producer: Adder, tasks: number) => Promise<void>>> = {
  batches: async (producer, tasks) => {
    for (let from = 0; from < tasks; from += BATCH) {
      const work = taskWork(from / BATCH);
      await producer.addMany(new Array<Work>(Math.min(BATCH, tasks - from)).fill(work));
    }
  },
  'in-flight': (producer, tasks) => addInFlight(producer, tasks, taskWork),
  'one-by-one': async (producer, tasks) => {
    for (let at = 0; at < tasks; at++) await producer.add(taskWork(at));
  },
};

function taskWork(at: number): Work {
  return { payload: HUNDRED_BYTES, user: `user-${at % USERS}` };
}
