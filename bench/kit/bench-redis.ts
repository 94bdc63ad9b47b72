import { Redis } from 'ioredis';
import { startRedis } from '../../test/support/redis/redis-server.ts';
import { rounded } from './statistics.ts';

/** A server for the bench, and its own statistics. */
export interface BenchRedis {
  readonly url: string;
  readonly version: string;
  /** Empties it. */
  flush(): Promise<void>;
  snapshot(): Promise<Snapshot>;
  stop(): Promise<void>;
}

export interface Snapshot {
  /** Time of the server's process, in s. */
  readonly cpu: number;
  /** `used_memory`, in bytes. */
  readonly memory: number;
  /** Calls by command, those inside scripts counted. */
  readonly calls: ReadonlyMap<string, number>;
  /** Time inside EVALSHA, in µs. */
  readonly scriptUs: number;
}

/** What the server did per task between two snapshots. */
export interface ServerCost {
  readonly [metric: string]: number;
  readonly redisCpuUs: number;
  readonly redisCommands: number;
}

const ARGS = {
  volatile: [],
  durable: ['--appendonly', 'yes', '--appendfsync', 'everysec'],
  synced: ['--appendonly', 'yes', '--appendfsync', 'always'],
} as const;

/** The persistence of a server. */
export type RedisKind = keyof typeof ARGS;

/** The bench's own commands and those of new connections belong to no task. */
const OWN = /^(info|flushall|config|client|hello|select|ping|memory|function|script\b.*)/;

export async function startBenchRedis(kind: RedisKind): Promise<BenchRedis> {
  const server = await startRedis({ args: [...ARGS[kind], '--maxmemory-policy', 'noeviction'] });
  const admin = new Redis(server.url);
  const version = /redis_version:(\S+)/.exec(await admin.info('server'))?.[1] ?? 'unknown';
  return {
    url: server.url,
    version,
    flush: async () => {
      await admin.flushall('SYNC');
      await admin.call('MEMORY', 'PURGE');
    },
    snapshot: async () => parse(await admin.info('everything')),
    stop: async () => {
      admin.disconnect();
      await server.stop();
    },
  };
}

export function serverCost(before: Snapshot, after: Snapshot, tasks: number): ServerCost {
  let calls = 0;
  for (const [command, count] of after.calls) calls += count - (before.calls.get(command) ?? 0);
  return {
    redisCpuUs: rounded(((after.cpu - before.cpu) * 1e6) / tasks),
    redisCommands: rounded(calls / tasks),
  };
}

function parse(info: string): Snapshot {
  const calls = new Map<string, number>();
  for (const [, command = '', count] of info.matchAll(/^cmdstat_([^:]+):calls=(\d+)/gm)) {
    if (!OWN.test(command)) calls.set(command, Number(count));
  }
  return {
    cpu: field(info, 'used_cpu_sys') + field(info, 'used_cpu_user'),
    memory: field(info, 'used_memory'),
    calls,
    scriptUs: Number(/^cmdstat_evalsha:calls=\d+,usec=(\d+)/m.exec(info)?.[1] ?? 0),
  };
}

function field(info: string, name: string): number {
  return Number(new RegExp(`^${name}:([\\d.]+)`, 'm').exec(info)?.[1]);
}
