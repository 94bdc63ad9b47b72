import type { Bench } from '../kit/bench.ts';
import { DURABLE_SIDES, durableRow, durableSides } from '../kit/durable-sides.ts';

const TASKS = 20_000;

export const durableOneByOne: Bench = {
  name: 'durable-one-by-one',
  about:
    'One caller, which waits until each task is on the disk. The last column writes 300 bytes into a file that ' +
    'has its room already, and syncs them.',
  sides: durableSides('one-by-one', [...DURABLE_SIDES, 'fdatasync'], { fairloom: TASKS }),
  rows: [durableRow('enqueue, one by one', { kind: 'times', side: 'fdatasync', times: 0.8 })],
};
