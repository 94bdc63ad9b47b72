import type { Bench } from '../kit/bench.ts';
import { atLeast, DURABLE_SIDES, durableRow, durableSides } from '../kit/durable-sides.ts';

const SIZES = { fairloom: 100_000, plainjob: 10_000, bullmq: 20_000 };

export const durableProcess: Bench = {
  name: 'durable-process',
  about:
    '100 slots in one process work off what was stored before, with a handler that does nothing. Each lease and ' +
    'each end is on the disk.',
  sides: durableSides('process', DURABLE_SIDES, SIZES),
  rows: [durableRow('process, 100 slots', atLeast(25_000))],
};
