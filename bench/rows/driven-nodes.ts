import type { Bench, SideName } from '../kit/bench.ts';
import { isolated } from '../kit/isolated.ts';

const NODES = 200_000;
const SIDES: readonly SideName[] = ['fairloom', 'fairloom-group'];

export const drivenNodes: Bench = {
  name: 'driven-nodes',
  about:
    'Driven runs of 1,000 steps that do nothing, on the embedded backend, one run and one step at ' +
    'a time in one slot, 200,000 steps after 20,000 to warm up. Written down after each step as by ' +
    'default, or with `checkpoint: group`. In a process of its own.',
  sides: SIDES.map((side) => ({
    name: side,
    run: (context) => isolated({ module: 'driven-nodes', side, size: context.size(NODES) }),
  })),
  rows: [
    row('fairloom', 'driven steps, embedded'),
    row('fairloom-group', 'driven steps, embedded, written down at groups'),
  ],
};

function row(subject: SideName, measure: string): Bench['rows'][number] {
  return {
    table: 'workflows',
    subject,
    measure,
    metrics: ['perSecond'],
    unit: 'steps/s',
    better: 'more',
    goals: [{ kind: 'least', metric: 'perSecond', value: 100_000 }],
  };
}
