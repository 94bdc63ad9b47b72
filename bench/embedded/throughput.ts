/** Enqueue and process with 100 slots in one process, a handler that does nothing. */
import type { Figures } from '../kit/bench.ts';
import { loadFairloom } from '../kit/fairloom-package.ts';
import { cpuUs } from '../kit/now.ts';
import { HUNDRED_BYTES, type Payload } from '../kit/payload.ts';

const SLOTS = 100;
/** Enqueued before the measurement, so that the code is compiled. */
const WARM_TASKS = 30_000;
/** Users of the variant with many users. */
const USERS = 1_000;

/** Enqueues this many tasks, and answers when the handler has run for all of them. */
type Rally = (tasks: number) => Promise<void>;

export async function measure(side: string, tasks: number): Promise<Figures> {
  const rally = await openRally(side);
  await rally(WARM_TASKS);
  globalThis.gc?.();
  const cpu = process.cpuUsage();
  const started = performance.now();
  await rally(tasks);
  const ms = performance.now() - started;
  return { perSecond: (tasks / ms) * 1_000, cpuUs: cpuUs(cpu) / tasks };
}

function openRally(side: string): Promise<Rally> {
  switch (side) {
    case 'fastq':
      return fastqRally();
    case 'p-queue':
      return pQueueRally();
    case 'fairloom-users':
      return fairloomRally(Array.from({ length: USERS }, (_, at) => `user-${at}`));
    default:
      return fairloomRally([]);
  }
}

async function fastqRally(): Promise<Rally> {
  const { default: fastq } = await import('fastq');
  const queue = fastq.promise(async (_payload: Payload) => {}, SLOTS);
  return async (tasks) => {
    const promises: Promise<void>[] = [];
    for (let at = 0; at < tasks; at++) promises.push(queue.push(HUNDRED_BYTES));
    await Promise.all(promises);
  };
}

async function pQueueRally(): Promise<Rally> {
  const { default: PQueue } = await import('p-queue');
  const queue = new PQueue({ concurrency: SLOTS });
  const handler = async (): Promise<void> => {};
  return async (tasks) => {
    const promises: Promise<void>[] = [];
    for (let at = 0; at < tasks; at++) promises.push(queue.add(handler));
    await Promise.all(promises);
  };
}

async function fairloomRally(users: readonly string[]): Promise<Rally> {
  const { Fairloom, memory, task } = await loadFairloom();
  let left = 0;
  let done: (() => void) | undefined;
  const job = task('job', async (_payload: Payload) => {
    if (--left === 0) done?.();
  });
  const loom = new Fairloom({ backend: memory(), tasks: [job] });
  await loom.worker({ concurrency: SLOTS }).start();
  const options = users.map((user) => ({ user }));
  return async (tasks) => {
    left = tasks;
    const handled = new Promise<void>((resolve) => {
      done = resolve;
    });
    const promises: Promise<unknown>[] = [];
    for (let at = 0; at < tasks; at++) {
      promises.push(loom.enqueue(job, HUNDRED_BYTES, options[at % options.length]));
    }
    await Promise.all(promises);
    await handled;
  };
}
