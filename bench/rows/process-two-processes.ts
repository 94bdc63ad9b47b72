import type { Bench } from '../kit/bench.ts';
import { processRound } from '../kit/process-round.ts';
import { REDIS_SIDES } from '../kit/sides.ts';

const TASKS = 40_000;

export const processTwoProcesses: Bench = {
  name: 'process-two-processes',
  about: 'The same with two worker processes, on a machine whose cores they share with the server.',
  sides: REDIS_SIDES.map((name) => ({
    name,
    run: (context) =>
      processRound(context, {
        side: name,
        slots: 100,
        processes: 2,
        tasks: context.size(TASKS),
      }),
  })),
  rows: [
    {
      table: 'redis',
      measure: 'process, 100 slots in each of two processes',
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
