import type { Bench } from '../kit/bench.ts';
import { enqueueRound } from '../kit/enqueue-round.ts';
import { REDIS_SIDES } from '../kit/sides.ts';

const TASKS = 5_000;

export const enqueueOneByOne: Bench = {
  name: 'enqueue-one-by-one',
  about: 'One caller, which waits for each answer: the round trip counts, not the work.',
  sides: REDIS_SIDES.map((name) => ({
    name,
    run: (context) =>
      enqueueRound(context, { side: name, way: 'one-by-one', tasks: context.size(TASKS) }),
  })),
  rows: [
    {
      table: 'redis',
      measure: 'enqueue, one by one',
      metrics: ['perSecond'],
      unit: 'tasks/s',
      better: 'more',
      goals: [
        { kind: 'times', side: 'bullmq', times: 3 },
        { kind: 'times', side: 'bee-queue', times: 0.9 },
      ],
    },
  ],
};
