/** One round of running tasks in worker processes, with a handler that does nothing. */
import { openSide } from '../sides/open-side.ts';
import type { BenchContext, Figures } from './bench.ts';
import { type Snapshot, serverCost } from './bench-redis.ts';
import { addInFlight, fill, USERS } from './enqueue-round.ts';
import { type FleetOrder, openFleet } from './fleet.ts';
import { cpuUs, now } from './now.ts';
import { HUNDRED_BYTES } from './payload.ts';
import type { RedisSideName } from './side.ts';
import { percentile, rounded } from './statistics.ts';
import type { WorkerReport } from './worker-messages.ts';

export interface ProcessRound {
  readonly side: RedisSideName;
  readonly slots: number;
  readonly processes: number;
  readonly tasks: number;
  readonly durable?: boolean;
}

/** Everything is stored before the workers start. Tasks/s from the first start to the last end. */
export async function processRound(context: BenchContext, round: ProcessRound): Promise<Figures> {
  const { side, tasks } = round;
  const redis = await (round.durable === true ? context.durableRedis() : context.redis());
  await fill(redis, side, tasks);
  const fleet = await openFleet(orderOf(round, redis.url));
  try {
    const before = await redis.snapshot();
    await fleet.start();
    await fleet.handled(tasks);
    const report = await fleet.finish();
    return figuresOf(report, before, await redis.snapshot());
  } finally {
    fleet.kill();
  }
}

/** Callers store while the workers run, from the moment both run. */
export async function bothRound(context: BenchContext, round: ProcessRound): Promise<Figures> {
  const { side, tasks } = round;
  const redis = await context.redis();
  const fleet = await openFleet(orderOf(round, redis.url));
  const producer = await (await openSide(side)).producer(redis.url);
  try {
    await fleet.start();
    const before = await redis.snapshot();
    const cpu = process.cpuUsage();
    const stored = addInFlight(producer, tasks, (at) => ({
      payload: { ...HUNDRED_BYTES, t: now() },
      user: `user-${at % USERS}`,
    }));
    await Promise.all([stored, fleet.handled(tasks)]);
    const clientCpuUs = rounded(cpuUs(cpu) / tasks);
    const report = await fleet.finish();
    const figures = figuresOf(report, before, await redis.snapshot());
    const { latencies } = report;
    return { ...figures, clientCpuUs, p50: at(latencies, 50), p99: at(latencies, 99) };
  } finally {
    await producer.close();
    fleet.kill();
  }
}

/** The server's cost of a task from its enqueue in batches to its end in one of 100 slots. */
export async function lifeRound(
  context: BenchContext,
  { side, tasks }: { readonly side: RedisSideName; readonly tasks: number },
): Promise<Figures> {
  const redis = await context.redis();
  const order = orderOf({ side, slots: 100, processes: 1, tasks }, redis.url);
  const fleet = await openFleet(order);
  try {
    const before = await redis.snapshot();
    await fill(redis, side, tasks);
    await fleet.start();
    await fleet.handled(tasks);
    await fleet.finish();
    return serverCost(before, await redis.snapshot(), tasks);
  } finally {
    fleet.kill();
  }
}

function orderOf({ side, slots, processes }: ProcessRound, url: string): FleetOrder {
  return { side, url, slots, processes, handlerMs: 0, delayed: false, keepStarts: false };
}

function figuresOf(report: WorkerReport, before: Snapshot, after: Snapshot): Figures {
  const { count, firstAt, lastAt, cpuUs: workerUs } = report;
  return {
    perSecond: rounded((count / (lastAt - firstAt)) * 1_000),
    workerCpuUs: rounded(workerUs / count),
    ...serverCost(before, after, count),
  };
}

function at(latencies: readonly number[], percent: number): number {
  return rounded(percentile(latencies, percent));
}
