import type { Bench, SideName } from '../kit/bench.ts';
import { isolated } from '../kit/isolated.ts';

const TASKS = 200_000;
const SIDES: readonly SideName[] = ['fairloom', 'fairloom-users', 'fastq', 'p-queue'];

export const embedded: Bench = {
  name: 'embedded',
  about:
    '200,000 tasks handed over one by one in one process, 100 slots, a handler that does ' +
    'nothing, after 30,000 to warm up. Each side in a process of its own. fastq and p-queue keep ' +
    'no records, leases or fairness; Fairloom also serializes the payload and keeps each record.',
  sides: SIDES.map((side) => ({
    name: side,
    run: (context) => isolated({ module: 'throughput', side, size: context.size(TASKS) }),
  })),
  rows: [
    row('fairloom', 'enqueue and process, one user'),
    row('fairloom-users', 'enqueue and process, 1,000 users'),
  ],
};

function row(subject: SideName, measure: string): Bench['rows'][number] {
  return {
    table: 'embedded',
    subject,
    measure,
    metrics: ['perSecond'],
    unit: 'tasks/s',
    better: 'more',
    goals: [{ kind: 'least', metric: 'perSecond', value: 150_000 }],
  };
}
