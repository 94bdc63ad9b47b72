/** How long the event loop is blocked during a snapshot of many tasks. */
import { readdirSync } from 'node:fs';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { Figures } from '../kit/bench.ts';
import { sleep } from '../kit/now.ts';
import { open } from './million.ts';

/** The log grows quickly, with little work for the loop. */
const PAYLOAD = { d: 'x'.repeat(100_000) };
/** Between two tasks, in ms. */
const PAUSE_MS = 1;
/** The time of the measurement without a snapshot, and the timeout for the first snapshot, in ms. */
const BEFORE_MS = 2_000;
const MOST_MS = 120_000;

/** The longest delay of the loop in ms, under one load: before a snapshot is made, and until one has been. */
export async function measure(folder: string): Promise<Figures> {
  const { loom, job } = await open(folder);
  await loom.health();
  const known = snapshotsIn(folder);
  let isOver = false;
  const load = (async () => {
    // The same task: the state does not grow, but each call is in the log.
    while (!isOver) {
      await loom.enqueue(job, PAYLOAD, { id: 'same' });
      await sleep(PAUSE_MS);
    }
  })();
  await sleep(BEFORE_MS);
  const before = await longestDelay(BEFORE_MS, () => false);
  const during = await longestDelay(MOST_MS, () => snapshotsIn(folder) !== known);
  isOver = true;
  await load;
  if (snapshotsIn(folder) === known) throw new Error('no snapshot was made');
  await loom.close();
  return { before, during };
}

async function longestDelay(mostMs: number, isEnough: () => boolean): Promise<number> {
  const delays = monitorEventLoopDelay({ resolution: 1 });
  const until = performance.now() + mostMs;
  delays.enable();
  while (performance.now() < until && !isEnough()) await sleep(50);
  delays.disable();
  return delays.max / 1e6;
}

/** The names of all snapshots: a new snapshot changes it. */
function snapshotsIn(folder: string): string {
  return readdirSync(folder)
    .filter((name) => /^state-\d+$/.test(name))
    .sort()
    .join();
}
