import type { RedisSideName } from './side.ts';

/** The libraries of most rows, in the order of the columns. */
export const REDIS_SIDES: readonly RedisSideName[] = ['fairloom', 'bullmq', 'bee-queue'];
