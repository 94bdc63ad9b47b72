import { bullmq } from '../sides/bullmq.ts';
import type { DurableQueue } from './queue.ts';

/** On a server that writes each command to its disk before it answers. */
export async function openBullmq(url: string): Promise<DurableQueue> {
  const producer = await bullmq.producer(url);
  let close = async (): Promise<void> => undefined;
  return {
    ...producer,
    work: async (slots, handled) => {
      const worker = await bullmq.worker(url, {
        slots,
        delayed: false,
        handle: async () => handled(),
      });
      close = () => worker.close();
    },
    close: async () => {
      await close();
      await producer.close();
    },
  };
}
