import { type BenchRedis, startBenchRedis } from './bench-redis.ts';

/** The servers of a run, each started when a bench first asks for it. */
export interface Servers {
  volatile(): Promise<BenchRedis>;
  durable(): Promise<BenchRedis>;
  /** Time of those that run, in µs. */
  cpuUs(): Promise<number>;
  stop(): Promise<void>;
}

export function lazyServers(): Servers {
  const started = new Map<'volatile' | 'durable', Promise<BenchRedis>>();
  const get = (kind: 'volatile' | 'durable'): Promise<BenchRedis> => {
    const known = started.get(kind) ?? startBenchRedis(kind);
    started.set(kind, known);
    return known;
  };
  return {
    volatile: () => get('volatile'),
    durable: () => get('durable'),
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
