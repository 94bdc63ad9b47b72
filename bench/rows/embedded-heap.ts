import type { Bench } from '../kit/bench.ts';
import { isolated } from '../kit/isolated.ts';

const TASKS = 100_000;

export const embeddedHeap: Bench = {
  name: 'embedded-heap',
  about:
    '100,000 waiting tasks of 1,000 users, each with a payload of its own of 100 bytes: growth of ' +
    'the heap after a full collection, per task, the payload included.',
  sides: [
    {
      name: 'fairloom',
      run: (context) => isolated({ module: 'heap', side: 'fairloom', size: context.size(TASKS) }),
    },
  ],
  rows: [
    {
      table: 'embedded',
      measure: 'heap per waiting task',
      metrics: ['bytes'],
      unit: 'bytes',
      better: 'less',
      goals: [{ kind: 'most', metric: 'bytes', value: 800 }],
    },
  ],
};
