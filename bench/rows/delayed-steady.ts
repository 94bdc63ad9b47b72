import type { Bench } from '../kit/bench.ts';
import { REDIS_SIDES } from '../kit/sides.ts';
import { delayedRound } from './delayed.ts';

const TASKS = 5_000;

export const delayedSteady: Bench = {
  name: 'delayed-steady',
  about: 'As `delayed`, but 5,000 tasks within 5 s: 1,000 fall due in each second.',
  sides: REDIS_SIDES.map((name) => ({
    name,
    run: (context) => delayedRound(context, name, TASKS),
  })),
  rows: [
    {
      table: 'redis',
      measure: 'delayed, 1,000/s: lateness p50 / p99',
      metrics: ['p50', 'p99'],
      unit: 'ms',
      better: 'less',
      goals: [
        { kind: 'most', metric: 'p50', value: 5, of: 'p50' },
        { kind: 'most', metric: 'p99', value: 50, of: 'p99' },
      ],
    },
  ],
};
