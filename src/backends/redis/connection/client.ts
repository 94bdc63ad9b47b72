/**
 * What this backend needs of a Redis client: a narrow shape that ioredis 5 and 6 have. Another
 * client is another file like this one.
 */
import { type RedisOptions as IoRedisOptions, Redis } from 'ioredis';
import { LIMITS } from '../../../domain/limits.ts';

/** The commands and events of one connection. An ioredis instance fits. */
export interface RedisClient {
  /** Where the connection stands: `wait`, `connecting`, `ready`, `end` and others of ioredis. */
  readonly status: string;
  /** What the client was made with. */
  readonly options: object;
  /** Sends one command. Rejects with the server's error, or the connection's. */
  call(command: string, args: (string | number)[]): Promise<unknown>;
  /** Opens the connection; rejects when it cannot be opened, or is open already. */
  connect(): Promise<void>;
  /** Closes at once, without waiting for replies. */
  disconnect(reconnect?: boolean): void;
  /**
   * A second client with the same options and these over them; it is not connected. For a Cluster
   * the first argument are nodes, none to keep those it has.
   */
  duplicate(override?: object, ofCluster?: object): RedisClient;
  /** Listens to `ready`, `close`, `end`, `error`, `message` and other events. */
  on(event: string, listener: (...args: unknown[]) => void): unknown;
  /** Listens no more. */
  off(event: string, listener: (...args: unknown[]) => void): unknown;
}

/** The same for a Cluster: it keeps a client for each of its nodes. */
interface ClusterClient extends RedisClient {
  nodes(role: 'master'): readonly RedisClient[];
}

/** How to reach the server: options of ioredis, for TLS, ACL users, passwords, socket paths. */
export type ConnectionOptions = IoRedisOptions;

/** Reconnecting is ours: a call that needs the connection opens it, so no timer runs otherwise. */
const OURS = {
  lazyConnect: true,
  enableOfflineQueue: true,
  enableReadyCheck: true,
  autoResendUnfulfilledCommands: false,
  maxRetriesPerRequest: 0,
  retryStrategy: (): null => null,
} as const;

/** Unless the options say otherwise. */
const PATIENCE = { connectTimeout: LIMITS.connectMs } as const;

/** The same for a client of a Cluster. */
const OF_CLUSTER = { lazyConnect: true, clusterRetryStrategy: (): null => null } as const;

/** A connection of our own to this address; not opened yet. */
export function newClient(target: ConnectionOptions): RedisClient {
  // The shape of replies is ours to choose: the decoders know ioredis's own.
  const { replyMapping: _mapping, ...address } = target;
  return asClient(new Redis({ ...PATIENCE, ...address, ...OURS }));
}

/** Another connection to where `client` goes; not opened yet. */
export function sibling(client: RedisClient): RedisClient {
  return isCluster(client)
    ? client.duplicate([], { ...OF_CLUSTER })
    : client.duplicate({ ...OURS });
}

/** The servers that hold keys: a walk over all keys asks each. */
export function nodesOf(client: RedisClient): readonly RedisClient[] {
  if (!isCluster(client)) return [client];
  return client.nodes('master');
}

/** Whether a client goes to a Cluster, whose nodes ioredis keeps. */
export function isCluster(client: RedisClient): client is ClusterClient {
  return typeof Reflect.get(client, 'nodes') === 'function';
}

/** Whether a value is a client rather than options for one. */
export function isClient(value: unknown): value is RedisClient {
  if (typeof value !== 'object' || value === null) return false;
  const has = (name: string): boolean =>
    name in value && typeof Reflect.get(value, name) === 'function';
  return has('call') && has('duplicate') && has('on');
}

/** A client that hands bytes through as they are: replies are buffers, and so may arguments be. */
export interface BinaryClient {
  /** Sends one command; texts of its reply are buffers. */
  callBuffer(command: string, args: readonly (string | number | Buffer)[]): Promise<unknown>;
}

/** The same client for bytes; `undefined` when it cannot, which clients of ioredis can. */
export function binaryClient(client: RedisClient): BinaryClient | undefined {
  return typeof Reflect.get(client, 'callBuffer') === 'function'
    ? (client as RedisClient & BinaryClient)
    : undefined;
}

function asClient(redis: Redis): RedisClient {
  return redis as unknown as RedisClient;
}
