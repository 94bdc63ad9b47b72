import { Fairloom, silentLogger } from 'fairloom';
import { redis } from 'fairloom/redis';
import { Cluster, Redis } from 'ioredis';
import { guestBackend } from '../support/file/guest-backend.ts';
import type { RedisCluster } from '../support/redis/redis-cluster.ts';
import type { ChaosHarness } from './chaos-harness.ts';

/** The way of the programme itself to the tasks: no fault hits it. */
export interface ChaosPlace {
  readonly loom: Fairloom;
  /** The server forgets scripts and functions; it is told past the proxy. */
  readonly flushScripts: () => Promise<void>;
  /** The process that owns the data folder, where there is one. */
  readonly ownerPid: () => number | undefined;
  /** What the tasks live in, for the report. */
  readonly described: () => Promise<string>;
  readonly close: () => Promise<void>;
}

/** Of what the workers of a harness work on. */
export function placeOf({ redis: served, cluster, prefix, data }: ChaosHarness): ChaosPlace {
  if (cluster !== undefined) return placeOn(cluster, prefix);
  if (served === undefined) {
    const { backend, ownerPid } = guestBackend(data);
    const loom = new Fairloom({ backend, log: silentLogger });
    return {
      loom,
      ownerPid,
      flushScripts: async () => undefined,
      described: async () => 'a data folder that is synced before each answer',
      close: () => loom.close(),
    };
  }
  const admin = new Redis(served.server.url, { retryStrategy: () => 50 });
  admin.on('error', () => undefined);
  const loom = new Fairloom({
    backend: redis(served.proxy.url, { prefix }),
    log: silentLogger,
  });
  return {
    loom,
    ownerPid: () => undefined,
    flushScripts: async () =>
      void (await Promise.all([admin.script('FLUSH'), admin.function('FLUSH')])),
    described: async () => {
      const version = /redis_version:(\S+)/.exec(await admin.info('server'))?.[1] ?? 'unknown';
      return `Redis ${version} with appendfsync always`;
    },
    close: async () => {
      await loom.close();
      admin.disconnect();
    },
  };
}

function placeOn({ nodes, members }: RedisCluster, prefix: string): ChaosPlace {
  const client = new Cluster([...nodes]);
  client.on('error', () => undefined);
  const loom = new Fairloom({ backend: redis(client, { prefix }), log: silentLogger });
  return {
    loom,
    ownerPid: () => undefined,
    flushScripts: async () => undefined,
    described: async () => {
      const info = (await members[0]?.admin.info('server')) ?? '';
      const version = /redis_version:(\S+)/.exec(info)?.[1] ?? 'unknown';
      return `a Cluster of ${members.length} masters, Redis ${version} with appendfsync always`;
    },
    close: async () => {
      await loom.close();
      client.disconnect();
    },
  };
}
