/** Runs that a worker of the embedded backend drives, one after the other: nodes per second. */

import type { Figures } from '../kit/bench.ts';
import { loadFairloom } from '../kit/fairloom-package.ts';
import { cpuUs } from '../kit/now.ts';
import { chain } from '../sides/fairloom-runs.ts';

/** Nodes of one run. */
const STEPS = 1_000;
/** Nodes before the measurement, so that the code is compiled. */
const WARM_NODES = 20_000;

/** `side` chooses when a run is stored: `fairloom-group` at groups only, else after each node. */
export async function measure(side: string, nodes: number): Promise<Figures> {
  const { Fairloom, memory } = await loadFairloom();
  const steps = Math.min(STEPS, nodes);
  const workflow = await chain('driven', steps);
  const loom = new Fairloom({ backend: memory(), tasks: [workflow] });
  await loom.worker({ concurrency: 1 }).start();
  const checkpoint = side === 'fairloom-group' ? 'group' : 'node';
  const walk = async (count: number): Promise<number> => {
    const runs = Math.ceil(count / steps);
    for (let at = 0; at < runs; at++) {
      const run = await loom.enqueue(workflow, undefined, { form: 'driven', checkpoint });
      await run.result();
    }
    return runs * steps;
  };
  await walk(WARM_NODES);
  globalThis.gc?.();
  const cpu = process.cpuUsage();
  const started = performance.now();
  const walked = await walk(nodes);
  const ms = performance.now() - started;
  const us = cpuUs(cpu);
  await loom.close();
  return { perSecond: (walked / ms) * 1_000, cpuUs: us / walked };
}
