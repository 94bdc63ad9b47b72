import type { Bench } from '../kit/bench.ts';
import { processRound } from '../kit/process-round.ts';
import { REDIS_SIDES } from '../kit/sides.ts';

const TASKS = 40_000;

export const process100Slots: Bench = {
  name: 'process-100-slots',
  about: 'Tasks of 100 users, stored before; a process of its own works them off.',
  sides: REDIS_SIDES.map((name) => ({
    name,
    run: (context) =>
      processRound(context, {
        side: name,
        slots: 100,
        processes: 1,
        tasks: context.size(TASKS),
      }),
  })),
  rows: [
    {
      table: 'redis',
      measure: 'process, 100 slots, one process',
      metrics: ['perSecond'],
      unit: 'tasks/s',
      better: 'more',
      goals: [
        { kind: 'times', side: 'bullmq', times: 4 },
        { kind: 'times', side: 'bee-queue', times: 2 },
      ],
    },
  ],
};
