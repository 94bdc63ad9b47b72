/** How much of the machine other programs used during a round: a busy round is not meaningful. */
import { cpus } from 'node:os';
import { cpuUs } from './now.ts';

/** Time of child processes that have reported, in µs; only grows, so only differences count. */
let childrenUs = 0;

/** Adds the time of a child of the bench. */
export function countChild(us: number): void {
  childrenUs += us;
}

/** Call it at the start; the returned function gives the cores that other programs used. */
export function watchMachine(): (serverUs: number) => number {
  const busyBefore = busyMs();
  const childrenBefore = childrenUs;
  const own = process.cpuUsage();
  const started = performance.now();
  return (serverUs) => {
    const wall = performance.now() - started;
    const oursMs = (cpuUs(own) + childrenUs - childrenBefore + serverUs) / 1_000;
    return Math.max(0, (busyMs() - busyBefore - oursMs) / wall);
  };
}

/** Time that all cores together were busy, in ms since the start of the machine. */
function busyMs(): number {
  return cpus().reduce(
    (sum, { times }) => sum + times.user + times.nice + times.sys + times.irq,
    0,
  );
}
