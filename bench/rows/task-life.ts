import type { Bench } from '../kit/bench.ts';
import { lifeRound } from '../kit/process-round.ts';
import { REDIS_SIDES } from '../kit/sides.ts';

const TASKS = 20_000;

export const taskLife: Bench = {
  name: 'task-life',
  about:
    'Enqueue in batches of 1,000, then 100 slots, until everything is settled: time of the server ' +
    'process (`INFO cpu`) and calls (`INFO commandstats`), those inside scripts counted.',
  sides: REDIS_SIDES.map((name) => ({
    name,
    run: (context) => lifeRound(context, { side: name, tasks: context.size(TASKS) }),
  })),
  rows: [
    {
      table: 'redis',
      measure: 'Redis CPU per task, whole life',
      metrics: ['redisCpuUs'],
      unit: 'µs',
      better: 'less',
      goals: [{ kind: 'most', metric: 'redisCpuUs', value: 40 }],
    },
    {
      table: 'redis',
      measure: 'Redis commands per task, whole life',
      metrics: ['redisCommands'],
      unit: '',
      better: 'less',
      goals: [{ kind: 'most', metric: 'redisCommands', value: 14 }],
    },
  ],
};
