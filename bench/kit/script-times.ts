/** The server's cost of single scripts: time of its main thread, not wall time. */
import { Redis } from 'ioredis';
import type { RedisClient } from '../../src/redis.ts';
import { rounded } from './statistics.ts';

/** A client whose scripts are timed. */
export interface TimedClient {
  readonly client: RedisClient;
  /** The longest script of some work, in ms; of more than a hundred the longest but for one in a hundred. */
  longest(work: () => Promise<unknown>): Promise<number>;
  close(): void;
}

const FIELDS = ['used_cpu_sys_main_thread', 'used_cpu_user_main_thread'];

export function timedClient(url: string): TimedClient {
  const redis = new Redis(url);
  let times: number[] = [];
  const call = redis.call.bind(redis) as (command: string, args: unknown[]) => Promise<unknown>;
  const timed = async (command: string, args: unknown[]): Promise<unknown> => {
    if (command !== 'EVALSHA' && command !== 'FCALL') return call(command, args);
    // Sent together, so that no other command comes between.
    const [before, reply, after] = await Promise.allSettled([
      call('INFO', ['cpu']),
      call(command, args),
      call('INFO', ['cpu']),
    ]);
    times.push(cpuMs(after) - cpuMs(before));
    if (reply.status === 'rejected') throw reply.reason;
    return reply.value;
  };
  return {
    client: Object.assign(redis, { call: timed }) as unknown as RedisClient,
    longest: async (work) => {
      times = [];
      await work();
      const sorted = times.toSorted((a, b) => b - a);
      return rounded(sorted[Math.floor(sorted.length / 100)] ?? Number.NaN);
    },
    close: () => redis.disconnect(),
  };
}

function cpuMs(info: PromiseSettledResult<unknown>): number {
  const text = info.status === 'fulfilled' ? String(info.value) : '';
  return FIELDS.reduce((sum, field) => {
    return sum + Number(new RegExp(`^${field}:([\\d.]+)`, 'm').exec(text)?.[1]) * 1_000;
  }, 0);
}
