import type { Bench } from '../kit/bench.ts';
import { processRound } from '../kit/process-round.ts';
import { REDIS_SIDES } from '../kit/sides.ts';

const TASKS = 30_000;

export const process10Slots: Bench = {
  name: 'process-10-slots',
  about: 'The same with the default number of slots of a Fairloom worker.',
  sides: REDIS_SIDES.map((name) => ({
    name,
    run: (context) =>
      processRound(context, {
        side: name,
        slots: 10,
        processes: 1,
        tasks: context.size(TASKS),
      }),
  })),
  rows: [
    {
      table: 'redis',
      measure: 'process, 10 slots',
      metrics: ['perSecond'],
      unit: 'tasks/s',
      better: 'more',
      goals: [
        { kind: 'times', side: 'bullmq', times: 2.5 },
        { kind: 'times', side: 'bee-queue', times: 2 },
      ],
    },
  ],
};
