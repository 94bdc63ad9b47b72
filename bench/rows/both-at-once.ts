import type { Bench } from '../kit/bench.ts';
import { bothRound } from '../kit/process-round.ts';
import { REDIS_SIDES } from '../kit/sides.ts';

const TASKS = 30_000;

export const bothAtOnce: Bench = {
  name: 'both-at-once',
  about:
    '100 callers in one process store while 100 slots in another work off. The wait is from the ' +
    'call to the start of the handler, under this load.',
  sides: REDIS_SIDES.map((name) => ({
    name,
    run: (context) =>
      bothRound(context, { side: name, slots: 100, processes: 1, tasks: context.size(TASKS) }),
  })),
  rows: [
    {
      table: 'redis',
      measure: 'enqueue and process at once, 100 slots',
      metrics: ['perSecond'],
      unit: 'tasks/s',
      better: 'more',
      goals: [
        { kind: 'times', side: 'bullmq', times: 4 },
        { kind: 'times', side: 'bee-queue', times: 2 },
      ],
    },
    {
      table: 'redis',
      measure: '– wait under this load, p50 / p99',
      metrics: ['p50', 'p99'],
      unit: 'ms',
      better: 'less',
      goals: [],
    },
  ],
};
