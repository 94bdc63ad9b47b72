import type { RedisSideName, Side } from '../kit/side.ts';

/** Loads the library only now: a process of one side must not carry the others. */
export async function openSide(name: RedisSideName): Promise<Side> {
  switch (name) {
    case 'fairloom':
      return (await import('./fairloom.ts')).fairloom;
    case 'fairloom-each':
      return (await import('./fairloom.ts')).fairloomEach;
    case 'bullmq':
      return (await import('./bullmq.ts')).bullmq;
    case 'bullmq-queues':
      return (await import('./bullmq-queues.ts')).bullmqQueues;
    case 'bee-queue':
      return (await import('./bee-queue.ts')).beeQueue;
  }
}
