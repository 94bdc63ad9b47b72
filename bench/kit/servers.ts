import { type BenchRedis, type RedisKind, startBenchRedis } from './bench-redis.ts';

/** The servers of a run, each started when a bench first asks for it. */
export interface Servers {
  get(kind: RedisKind): Promise<BenchRedis>;
  /** Time of those that run, in µs. */
  cpuUs(): Promise<number>;
  stop(): Promise<void>;
}

export function lazyServers(): Servers {
  const started = new Map<RedisKind, Promise<BenchRedis>>();
  return {
    get: (kind) => {
      const known = started.get(kind) ?? startBenchRedis(kind);
      started.set(kind, known);
      return known;
    },
    cpuUs: async () => {
      const servers = await Promise.all(started.values());
      const snapshots = await Promise.all(servers.map((server) => server.snapshot()));
      return snapshots.reduce((sum, { cpu }) => sum + cpu * 1e6, 0);
    },
    stop: async () => {
      for (const server of await Promise.all(started.values())) await server.stop();
    },
  };
}
