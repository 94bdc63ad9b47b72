import { loadFairloom, loadFairloomRedis } from '../kit/fairloom-package.ts';
import type { RedisSideName, Side } from '../kit/side.ts';

/** Loads the library on first use: a process of one side must not load the others. */
export async function openSide(name: RedisSideName): Promise<Side> {
  switch (name) {
    case 'fairloom':
      return (await fairloomSides()).fairloom;
    case 'fairloom-each':
      return (await fairloomSides()).fairloomEach;
    case 'bullmq':
      return (await import('./bullmq.ts')).bullmq;
    case 'bullmq-queues':
      return (await import('./bullmq-queues.ts')).bullmqQueues;
    case 'bee-queue':
      return (await import('./bee-queue.ts')).beeQueue;
  }
}

/** Loads the library here, like the others: its time is not part of the first task. */
async function fairloomSides(): Promise<typeof import('./fairloom.ts')> {
  await Promise.all([loadFairloom(), loadFairloomRedis()]);
  return import('./fairloom.ts');
}
