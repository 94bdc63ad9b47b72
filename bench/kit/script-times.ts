/** What single scripts cost the server: its own time, not that of the clock on the wall. */
import { Redis } from 'ioredis';
import type { RedisClient } from '../../src/redis.ts';

/** A client that notes the longest script since it was last asked. */
export interface TimedClient {
  readonly client: RedisClient;
  /** Times of the scripts since the last call, in ms, and forgets them. */
  take(): readonly number[];
  close(): void;
}

/** Time of the server's main thread, in µs. */
const FIELDS = ['used_cpu_sys_main_thread', 'used_cpu_user_main_thread'];

export function timedClient(url: string): TimedClient {
  const redis = new Redis(url);
  let times: number[] = [];
  const call = redis.call.bind(redis) as (command: string, args: unknown[]) => Promise<unknown>;
  const timed = async (command: string, args: unknown[]): Promise<unknown> => {
    if (command !== 'EVALSHA') return call(command, args);
    // Sent together, so that nothing comes between.
    const [before, reply, after] = await Promise.all([
      call('INFO', ['cpu']),
      call(command, args).then(
        (value) => ({ value }),
        (error: unknown) => ({ error }),
      ),
      call('INFO', ['cpu']),
    ]);
    times.push((cpuUs(after) - cpuUs(before)) / 1_000);
    if ('error' in reply) throw reply.error;
    return reply.value;
  };
  return {
    client: Object.assign(redis, { call: timed }) as unknown as RedisClient,
    take: () => {
      const taken = times;
      times = [];
      return taken;
    },
    close: () => redis.disconnect(),
  };
}

function cpuUs(info: unknown): number {
  const text = String(info);
  return FIELDS.reduce((sum, field) => {
    return sum + Number(new RegExp(`^${field}:([\\d.]+)`, 'm').exec(text)?.[1]) * 1e6;
  }, 0);
}
