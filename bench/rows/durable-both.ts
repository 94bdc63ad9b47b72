import type { Bench } from '../kit/bench.ts';
import { atLeast, DURABLE_SIDES, durableRow, durableSides } from '../kit/durable-sides.ts';

const SIZES = { fairloom: 100_000, plainjob: 5_000, bullmq: 20_000 };

export const durableBoth: Bench = {
  name: 'durable-both',
  about: '100 callers store while 100 slots of the same process work off.',
  sides: durableSides('both', DURABLE_SIDES, SIZES),
  rows: [durableRow('enqueue and process at once, 100 slots', atLeast(25_000))],
};
