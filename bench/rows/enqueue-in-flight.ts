import type { Bench } from '../kit/bench.ts';
import { enqueueRound } from '../kit/enqueue-round.ts';
import { REDIS_SIDES } from '../kit/sides.ts';

const TASKS = 30_000;

export const enqueueInFlight: Bench = {
  name: 'enqueue-in-flight',
  about:
    '100 callers in one process, each of which stores its next task when the last one is stored.',
  sides: REDIS_SIDES.map((name) => ({
    name,
    run: (context) =>
      enqueueRound(context, { side: name, way: 'in-flight', tasks: context.size(TASKS) }),
  })),
  rows: [
    {
      table: 'redis',
      measure: 'enqueue, 100 in flight',
      metrics: ['perSecond'],
      unit: 'tasks/s',
      better: 'more',
      goals: [
        { kind: 'times', side: 'bullmq', times: 2.5 },
        { kind: 'times', side: 'bee-queue', times: 0.9 },
      ],
    },
  ],
};
