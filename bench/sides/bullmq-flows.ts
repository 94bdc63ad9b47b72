/** Flows of BullMQ: a parent that starts when its children have finished, all in one queue. */
import { FlowProducer } from 'bullmq';
import { HUNDRED_BYTES } from '../kit/payload.ts';
import type { FlowCaller } from '../kit/side.ts';
import { complain, JOB, QUEUE, REMOVED } from './bullmq.ts';

export async function bullmqFlows(url: string, children: number): Promise<FlowCaller> {
  const producer = new FlowProducer({ connection: { url, enableOfflineQueue: false } });
  producer.on('error', complain);
  await producer.waitUntilReady();
  const job = { name: JOB, queueName: QUEUE, data: HUNDRED_BYTES, opts: REMOVED };
  return {
    add: async () => {
      await producer.add({ ...job, children: new Array<typeof job>(children).fill(job) });
    },
    close: () => producer.close(),
  };
}
