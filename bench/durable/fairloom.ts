/** Fairloom with every option at its default: each acknowledged call is on the disk. */
import { loadFairloom, loadFairloomFile } from '../kit/fairloom-package.ts';
import type { Payload } from '../kit/payload.ts';
import { ERRORS, JOB, producerOf } from '../sides/fairloom.ts';
import type { DurableQueue } from './queue.ts';

export async function openFairloom(folder: string): Promise<DurableQueue> {
  const [{ Fairloom, task }, { file }] = await Promise.all([loadFairloom(), loadFairloomFile()]);
  let count = (): void => undefined;
  const job = task(JOB, async (_payload: Payload) => count());
  const loom = new Fairloom({ backend: file(folder), tasks: [job], log: ERRORS });
  return {
    ...producerOf({ loom, job }, true),
    work: async (slots, handled) => {
      count = handled;
      await loom.worker({ concurrency: slots }).start();
    },
  };
}
