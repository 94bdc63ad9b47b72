/**
 * BullMQ, set up as in its guide "Going to production": workers retry for ever
 * (`maxRetriesPerRequest: null`), queues fail fast (`enableOfflineQueue: false`), errors are
 * listened to, finished jobs are removed. Of the guide's ways to remove them the bench uses
 * the fastest, at once.
 */
import { type JobsOptions, Queue, Worker } from 'bullmq';
import type { Payload } from '../kit/payload.ts';
import type { Producer, Side, Work } from '../kit/side.ts';

export const QUEUE = 'bench';
export const JOB = 'job';
export const REMOVED = { removeOnComplete: true, removeOnFail: true } as const;

export const bullmq: Side = {
  name: 'bullmq',
  producer: async (url) => producerOf(await openQueue(QUEUE, url)),
  worker: async (url, { slots, handle }) => {
    const connection = { url, maxRetriesPerRequest: null };
    const worker = new Worker<Payload>(QUEUE, (job) => handle(job.data), {
      connection,
      concurrency: slots,
    });
    worker.on('error', complain);
    await worker.waitUntilReady();
    return worker;
  },
};

export async function openQueue(name: string, url: string): Promise<Queue<Payload>> {
  const queue = new Queue<Payload>(name, {
    connection: { url, enableOfflineQueue: false },
    defaultJobOptions: REMOVED,
  });
  queue.on('error', complain);
  await queue.waitUntilReady();
  return queue;
}

export function complain(error: Error): void {
  console.error(`bullmq: ${error.message}`);
}

function producerOf(queue: Queue<Payload>): Producer {
  return {
    add: async ({ payload }) => {
      await queue.add(JOB, payload);
    },
    addMany: async (works) => {
      await queue.addBulk(works.map(jobOf));
    },
    close: () => queue.close(),
  };
}

function jobOf(work: Work): {
  readonly name: string;
  readonly data: Payload;
  readonly opts: JobsOptions;
} {
  return { name: JOB, data: work.payload, opts: optionsOf(work) };
}

function optionsOf({ delayMs, rank }: Work): JobsOptions {
  if (delayMs !== undefined) return { ...REMOVED, delay: delayMs };
  return rank === undefined ? REMOVED : { ...REMOVED, priority: rank };
}
