import type { Bench } from '../kit/bench.ts';
import { atLeast, DURABLE_SIDES, durableRow, durableSides } from '../kit/durable-sides.ts';

const SIZES = { fairloom: 200_000, plainjob: 10_000, bullmq: 50_000 };

export const durableInFlight: Bench = {
  name: 'durable-in-flight',
  about: '100 callers in one process, each of which waits until its task is on the disk.',
  sides: durableSides('in-flight', DURABLE_SIDES, SIZES),
  rows: [durableRow('enqueue, 100 in flight', atLeast(40_000))],
};
