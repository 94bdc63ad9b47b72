import type { Bench } from '../kit/bench.ts';
import { processRound } from '../kit/process-round.ts';
import { REDIS_SIDES } from '../kit/sides.ts';

const TASKS = 40_000;

export const processDurable: Bench = {
  name: 'process-durable',
  about: 'The same on a server that writes its log to disk every second.',
  sides: REDIS_SIDES.map((name) => ({
    name,
    run: (context) =>
      processRound(context, {
        side: name,
        slots: 100,
        processes: 1,
        tasks: context.size(TASKS),
        durable: true,
      }),
  })),
  rows: [
    {
      table: 'redis',
      measure: 'process, 100 slots, AOF `everysec`',
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
