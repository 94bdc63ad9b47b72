/** Moves the slot of one namespace from the master that has it to another, key by key, as a reshard does. */
import type { Redis } from 'ioredis';
import type { ClusterNode, RedisCluster } from './redis-cluster.ts';

/** Keys that are moved one by one, so that many a step would meet the slot half there. */
const ALONE = 20;
/** Keys that are moved at once behind them. */
const TOGETHER = 200;
/** How long one transfer may take, in ms. */
const TRANSFER_MS = 5_000;

export interface SlotMove {
  /** A key of the slot; it goes first. */
  readonly first: string;
  /** Gives the order of the others. */
  readonly order?: (keys: readonly string[]) => readonly string[];
  /** Called when the slot is open and behind each transfer. */
  readonly between?: (moved: number) => Promise<void>;
}

/**
 * @rejects with what the servers say, as BUSYKEY when both have a key: then a step has made it where it
 * was not yet.
 */
export async function moveSlot(cluster: RedisCluster, move: SlotMove): Promise<number> {
  const { first, order = (keys) => keys, between = async () => undefined } = move;
  const slot = Number(await adminOf(cluster, 0).admin.call('CLUSTER', 'KEYSLOT', first));
  const from = await ownerOf(cluster, slot);
  const to = cluster.members.find((node) => node !== from) ?? from;
  await to.admin.call('CLUSTER', 'SETSLOT', slot, 'IMPORTING', from.id);
  await from.admin.call('CLUSTER', 'SETSLOT', slot, 'MIGRATING', to.id);
  await between(0);
  let moved = 0;
  for (;;) {
    const keys = order(await keysIn(from.admin, slot));
    if (keys.length === 0) break;
    const count = moved < ALONE ? 1 : TOGETHER;
    const some = moved === 0 && keys.includes(first) ? [first] : keys.slice(0, count);
    const head = ['127.0.0.1', to.port, '', 0, TRANSFER_MS, 'KEYS'];
    await from.admin.call('MIGRATE', ...head, ...some);
    moved += some.length;
    await between(moved);
  }
  for (const node of [to, from, ...cluster.members]) {
    await node.admin.call('CLUSTER', 'SETSLOT', slot, 'NODE', to.id);
  }
  return moved;
}

async function keysIn(admin: Redis, slot: number): Promise<readonly string[]> {
  const keys = await admin.call('CLUSTER', 'GETKEYSINSLOT', slot, 100_000);
  return Array.isArray(keys) ? keys.map(String) : [];
}

async function ownerOf(cluster: RedisCluster, slot: number): Promise<ClusterNode> {
  for (const node of cluster.members) {
    const ranges = await node.admin.call('CLUSTER', 'SLOTS');
    const own = (Array.isArray(ranges) ? ranges : []).find(
      ([low, high]) => slot >= Number(low) && slot <= Number(high),
    );
    if (own?.[2]?.[2] === node.id) return node;
  }
  throw new Error(`no node says that it has slot ${slot}`);
}

function adminOf({ members }: RedisCluster, at: number): ClusterNode {
  const node = members[at];
  if (node === undefined) throw new TypeError('a cluster without nodes');
  return node;
}
