import type { Bench } from '../kit/bench.ts';
import { processRound } from '../kit/process-round.ts';
import { REDIS_SIDES } from '../kit/sides.ts';

const TASKS = 10_000;

export const process1Slot: Bench = {
  name: 'process-1-slot',
  about: 'One task after the other: each waits for a round trip.',
  sides: REDIS_SIDES.map((name) => ({
    name,
    run: (context) =>
      processRound(context, {
        side: name,
        slots: 1,
        processes: 1,
        tasks: context.size(TASKS),
      }),
  })),
  rows: [
    {
      table: 'redis',
      measure: 'process, 1 slot',
      metrics: ['perSecond'],
      unit: 'tasks/s',
      better: 'more',
      goals: [
        { kind: 'times', side: 'bullmq', times: 1.1 },
        { kind: 'times', side: 'bee-queue', times: 1.1 },
      ],
    },
  ],
};
