import type { Bench } from '../kit/bench.ts';
import { atLeast, DURABLE_SIDES, durableRow, durableSides } from '../kit/durable-sides.ts';

const SIZES = { fairloom: 300_000, plainjob: 300_000, bullmq: 50_000 };

export const durableBatches: Bench = {
  name: 'durable-batches',
  about:
    'The call for many with 1,000 tasks of one user each, which stores all or none, one call at a time: each is on ' +
    'the disk before the next. plainjob stores rows of a type and a text, and looks at nothing else.',
  sides: durableSides('batches', DURABLE_SIDES, SIZES),
  rows: [durableRow('enqueue, batches of 1,000', atLeast(120_000))],
};
