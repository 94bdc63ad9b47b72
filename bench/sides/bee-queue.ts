/**
 * bee-queue, set up for speed as in its README: no events, no jobs kept in memory, finished ones
 * removed. It runs on its own client (node_redis 3): its `saveAll` calls methods
 * that ioredis does not have.
 */
import BeeQueue from 'bee-queue';
import type { Payload } from '../kit/payload.ts';
import type { Side, Work } from '../kit/side.ts';

const QUEUE = 'bench';

/** How long `close` may wait for running jobs, in ms; the bench closes when there are none. */
const CLOSE_MS = 1_000;

export const beeQueue: Side = {
  name: 'bee-queue',
  producer: async (url) => {
    const queue = await openQueue(url, { isWorker: false, delayed: false });
    return {
      add: async (work) => {
        await jobOf(queue, work).save();
      },
      addMany: async (works) => {
        const failures = await queue.saveAll(works.map((work) => jobOf(queue, work)));
        if (failures.size > 0) throw new Error(`bee-queue did not save ${failures.size} jobs`);
      },
      close: () => queue.close(CLOSE_MS),
    };
  },
  worker: async (url, { slots, delayed, handle }) => {
    const queue = await openQueue(url, { isWorker: true, delayed });
    queue.process(slots, (job) => handle(job.data));
    return { close: () => queue.close(CLOSE_MS) };
  },
};

async function openQueue(
  url: string,
  { isWorker, delayed }: { readonly isWorker: boolean; readonly delayed: boolean },
): Promise<BeeQueue<Payload>> {
  const { hostname: host, port } = new URL(url);
  const queue = new BeeQueue<Payload>(QUEUE, {
    redis: { host, port: Number(port) },
    isWorker,
    activateDelayedJobs: delayed,
    getEvents: false,
    sendEvents: false,
    storeJobs: false,
    removeOnSuccess: true,
    removeOnFailure: true,
  });
  queue.on('error', (error) => console.error(`bee-queue: ${error.message}`));
  await queue.ready();
  return queue;
}

function jobOf(queue: BeeQueue<Payload>, { payload, delayMs }: Work): BeeQueue.Job<Payload> {
  const job = queue.createJob(payload);
  return delayMs === undefined ? job : job.delayUntil(Date.now() + delayMs);
}
