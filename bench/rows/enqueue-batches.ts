import type { Bench } from '../kit/bench.ts';
import { enqueueRound } from '../kit/enqueue-round.ts';
import { REDIS_SIDES } from '../kit/sides.ts';

const TASKS = 50_000;

export const enqueueBatches: Bench = {
  name: 'enqueue-batches',
  about:
    'The call for many, with 1,000 tasks of one user each: `enqueueMany`, which stores all or none, ' +
    '`addBulk`, `saveAll`. One process, one call at a time.',
  sides: [...REDIS_SIDES, 'fairloom-each' as const].map((name) => ({
    name,
    run: (context) =>
      enqueueRound(context, { side: name, way: 'batches', tasks: context.size(TASKS) }),
  })),
  rows: [row('fairloom', 'all or none'), row('fairloom-each', 'each on its own')],
};

function row(subject: 'fairloom' | 'fairloom-each', how: string): Bench['rows'][number] {
  return {
    table: 'redis',
    subject,
    measure: `enqueue, batches of 1,000, ${how}`,
    metrics: ['perSecond'],
    unit: 'tasks/s',
    better: 'more',
    goals: [
      { kind: 'times', side: 'bullmq', times: 5 },
      { kind: 'times', side: 'bee-queue', times: 1.1 },
    ],
  };
}
