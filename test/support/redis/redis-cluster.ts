/** A Redis Cluster of some masters, and a master with a replica and sentinels, for tests. */
import { randomInt } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { type RedisServer, startRedis } from './redis-server.ts';

/** All slots of a cluster. */
const SLOTS = 16_384;
/** How long servers may take to agree with each other, in ms. */
const AGREE_MS = 30_000;
const SENTINELS = 3;

/** One master. */
export interface ClusterNode {
  readonly port: number;
  /** By which the others know it. */
  readonly id: string;
  /** Reaches this node alone. */
  readonly admin: Redis;
}

export interface RedisCluster {
  readonly nodes: readonly { readonly host: string; readonly port: number }[];
  readonly members: readonly ClusterNode[];
  stop(): Promise<void>;
}

/** So many masters, each with its share of the slots; `args` are more arguments of each. */
export async function startCluster(
  masters: number = 3,
  args: readonly string[] = [],
): Promise<RedisCluster> {
  const enabled = ['--cluster-enabled', 'yes', '--cluster-config-file', 'nodes.conf'];
  const servers = await Promise.all(
    Array.from({ length: masters }, () => startLow([...enabled, ...args])),
  );
  const admins = servers.map(({ url }) => new Redis(url));
  const share = Math.ceil(SLOTS / servers.length);
  for (const [at, admin] of admins.entries()) {
    const count = Math.min(share, SLOTS - at * share);
    const slots = Array.from({ length: count }, (_, slot) => at * share + slot);
    await admin.call('CLUSTER', 'ADDSLOTS', ...slots);
    await admins[0]?.call('CLUSTER', 'MEET', '127.0.0.1', servers[at]?.port ?? 0);
  }
  for (const admin of admins) {
    await until(async () => isWhole(String(await admin.cluster('INFO')), masters));
  }
  const members = await Promise.all(
    admins.map(async (admin, at): Promise<ClusterNode> => {
      const id = String(await admin.call('CLUSTER', 'MYID'));
      return { port: servers[at]?.port ?? 0, id, admin };
    }),
  );
  return {
    nodes: servers.map(({ port }) => ({ host: '127.0.0.1', port })),
    members,
    stop: async () => {
      for (const admin of admins) admin.disconnect();
      await Promise.all(servers.map((server) => server.stop()));
    },
  };
}

function isWhole(info: string, nodes: number): boolean {
  return info.includes('cluster_state:ok') && info.includes(`cluster_known_nodes:${nodes}`);
}

export interface RedisSentinels {
  readonly sentinels: { readonly host: string; readonly port: number }[];
  readonly master: RedisServer;
  /** Answers when the replica has been made the master. */
  promoted(): Promise<void>;
  stop(): Promise<void>;
}

/** The name of the master, as sentinels know it. */
export const MASTER = 'fairloom';

export async function startSentinels(): Promise<RedisSentinels> {
  const master = await startRedis();
  const replica = await startRedis({ args: ['--replicaof', '127.0.0.1', String(master.port)] });
  const folder = mkdtempSync(join(tmpdir(), 'fairloom-sentinel-'));
  const watchers = await Promise.all(
    Array.from({ length: SENTINELS }, async (_, at) => {
      const file = join(folder, `sentinel-${at}.conf`);
      writeFileSync(file, sentinelConfig(master.port));
      return startRedis({ args: [file], sentinel: true });
    }),
  );
  const looking = new Redis(replica.url);
  const sentinel = new Redis(watchers[0]?.url ?? '');
  await until(async () => {
    const found = await sentinel.call('SENTINEL', 'CKQUORUM', MASTER).catch(() => '');
    const replicas = await sentinel.call('SENTINEL', 'REPLICAS', MASTER);
    return String(found).startsWith('OK') && Array.isArray(replicas) && replicas.length === 1;
  });
  sentinel.disconnect();
  return {
    sentinels: watchers.map(({ port }) => ({ host: '127.0.0.1', port })),
    master,
    promoted: () => until(async () => (await looking.info('replication')).includes('role:master')),
    stop: async () => {
      looking.disconnect();
      await Promise.all([...watchers, replica, master].map((server) => server.stop()));
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function sentinelConfig(masterPort: number): string {
  return [
    `sentinel monitor ${MASTER} 127.0.0.1 ${masterPort} 2`,
    `sentinel down-after-milliseconds ${MASTER} 1000`,
    `sentinel failover-timeout ${MASTER} 5000`,
    '',
  ].join('\n');
}

/** The nodes of a cluster talk to each other on their port + 10,000. */
async function startLow(args: readonly string[]): Promise<RedisServer> {
  for (let attempt = 0; attempt < 50; attempt++) {
    const port = randomInt(20_000, 30_000);
    if ((await isFree(port)) && (await isFree(port + 10_000))) return startRedis({ port, args });
  }
  throw new Error('no free port below 30,000 whose bus port is free too');
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}

async function until(holds: () => Promise<boolean>): Promise<void> {
  const deadline = performance.now() + AGREE_MS;
  while (!(await holds().catch(() => false))) {
    if (performance.now() > deadline) throw new Error(`servers did not agree in ${AGREE_MS} ms`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
