import type { Bench, BenchContext, Figures } from '../kit/bench.ts';
import { serverCost } from '../kit/bench-redis.ts';
import { USERS } from '../kit/enqueue-round.ts';
import { openFleet } from '../kit/fleet.ts';
import { now } from '../kit/now.ts';
import type { FlowCaller } from '../kit/side.ts';
import { rounded } from '../kit/statistics.ts';

type FlowSide = 'fairloom' | 'bullmq';

/** Of all flows together. */
const CHILDREN = 10_000;
/** Of one flow. */
const FAMILY = 100;
const SLOTS = 100;
const SIDES: readonly FlowSide[] = ['fairloom', 'bullmq'];

export const flows: Bench = {
  name: 'flows',
  about:
    '100 flows of 100 children and a parent that starts after them, all handed over at once while ' +
    'another process works with 100 slots: from the first call to the end of the last parent. ' +
    'Fairloom: `parallel` of 100 and a task, a dispatched run; BullMQ: `FlowProducer.add`.',
  sides: SIDES.map((name) => ({ name, run: (context) => flowRound(context, name) })),
  rows: [
    {
      table: 'workflows',
      measure: '100 flows of 100 children',
      metrics: ['perSecond'],
      unit: 'tasks/s',
      better: 'more',
      goals: [{ kind: 'times', side: 'bullmq', times: 3 }],
    },
  ],
};

async function flowRound(context: BenchContext, side: FlowSide): Promise<Figures> {
  const redis = await context.redis();
  const count = Math.ceil(context.size(CHILDREN) / FAMILY);
  const work = { slots: SLOTS, handlerMs: 0, delayed: false, keepStarts: false } as const;
  const fleet = await openFleet({ ...work, side, url: redis.url, processes: 1 });
  const caller = await callerOf(side, redis.url);
  const tasks = count * (FAMILY + 1);
  try {
    await fleet.start();
    const before = await redis.snapshot();
    const started = now();
    const added = Array.from({ length: count }, (_, at) => caller.add(`user-${at % USERS}`));
    await Promise.all([...added, fleet.handled(tasks)]);
    const { lastAt, cpuUs } = await fleet.finish();
    return {
      perSecond: rounded((tasks / (lastAt - started)) * 1_000),
      workerCpuUs: rounded(cpuUs / tasks),
      ...serverCost(before, await redis.snapshot(), tasks),
    };
  } finally {
    await caller.close();
    fleet.kill();
  }
}

/** Loads the library on first use. */
async function callerOf(side: FlowSide, url: string): Promise<FlowCaller> {
  if (side === 'bullmq') return (await import('../sides/bullmq-flows.ts')).bullmqFlows(url, FAMILY);
  return (await import('../sides/fairloom-runs.ts')).fairloomFlows(url, FAMILY);
}
