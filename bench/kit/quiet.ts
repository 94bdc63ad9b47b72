/** How much of the machine others used while a round ran: a busy round says little. */
import { cpus } from 'node:os';
import { cpuUs } from './now.ts';

/** Time of child processes that have reported, in µs; grows for ever, only differences count. */
let childrenUs = 0;

/** A child of the bench has used so much. */
export function countChild(us: number): void {
  childrenUs += us;
}

/** Call at the start; the answer at the end is cores that were busy with something else. */
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

/** Time that all cores together were not idle, in ms since the start of the machine. */
function busyMs(): number {
  return cpus().reduce(
    (sum, { times }) => sum + times.user + times.nice + times.sys + times.irq,
    0,
  );
}
