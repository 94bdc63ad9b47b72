/** How long the event loop stands still while a snapshot of much is made. */
import { readdirSync } from 'node:fs';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { Figures } from '../kit/bench.ts';
import { sleep } from '../kit/now.ts';
import { open } from './million.ts';

/** The log gets long soon, with little work for the loop. */
const PAYLOAD = { d: 'x'.repeat(100_000) };
/** Between two tasks, in ms. */
const PAUSE_MS = 1;
/** How long it is watched without a snapshot, and how long the first one is waited for, in ms. */
const BEFORE_MS = 2_000;
const MOST_MS = 120_000;

/** The longest delay of the loop in ms, under one load: before a snapshot is made, and until one has been. */
export async function measure(folder: string): Promise<Figures> {
  const { loom, job } = await open(folder);
  await loom.health();
  const known = snapshotsIn(folder);
  let isOver = false;
  const load = (async () => {
    // The same task: nothing more is kept, but each call stands in the log.
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

/** The names of all of them: a new one changes it. */
function snapshotsIn(folder: string): string {
  return readdirSync(folder)
    .filter((name) => /^state-\d+$/.test(name))
    .sort()
    .join();
}
