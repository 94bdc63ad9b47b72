import type { Bench, BenchContext, Figures } from '../kit/bench.ts';
import { serverCost } from '../kit/bench-redis.ts';
import { openFleet } from '../kit/fleet.ts';
import { rounded } from '../kit/statistics.ts';
import { chain, openRuns } from '../sides/fairloom-runs.ts';

/** Of all runs together. */
const NODES = 64_000;
/** Of one run. */
const STEPS = 100;
/** Runs at once. */
const IN_FLIGHT = 16;

export const drivenCheckpoints: Bench = {
  name: 'driven-checkpoints',
  about:
    '640 driven runs of 100 steps that do nothing, stored before; one process with 16 slots walks ' +
    'them and writes each step down before the next one starts.',
  sides: [{ name: 'fairloom', run: checkpointRound }],
  rows: [
    {
      table: 'workflows',
      measure: 'driven steps on Redis, 16 runs at once, each written down',
      metrics: ['perSecond'],
      unit: 'steps/s',
      better: 'more',
      goals: [{ kind: 'least', metric: 'perSecond', value: 1_000 }],
    },
  ],
};

async function checkpointRound(context: BenchContext): Promise<Figures> {
  const redis = await context.redis();
  const runs = Math.ceil(context.size(NODES) / STEPS);
  await store(redis.url, runs);
  const work = { slots: IN_FLIGHT, handlerMs: 0, delayed: false, keepStarts: false } as const;
  const fleet = await openFleet({ ...work, side: 'fairloom', url: redis.url, processes: 1 });
  try {
    const before = await redis.snapshot();
    await fleet.start();
    await fleet.handled(runs * STEPS);
    const { count, firstAt, lastAt, cpuUs } = await fleet.finish();
    return {
      perSecond: rounded((count / (lastAt - firstAt)) * 1_000),
      workerCpuUs: rounded(cpuUs / count),
      ...serverCost(before, await redis.snapshot(), count),
    };
  } finally {
    fleet.kill();
  }
}

async function store(url: string, runs: number): Promise<void> {
  const { loom } = await openRuns(url);
  const workflow = await chain('driven', STEPS);
  const enqueued = Array.from({ length: runs }, () =>
    loom.enqueue(workflow, undefined, { form: 'driven' }),
  );
  await Promise.all(enqueued);
  await loom.close();
}
