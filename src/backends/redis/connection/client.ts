/**
 * The interface to a Redis client: a narrow one that ioredis 5 and 6 implement. Another client
 * needs another file like this one.
 */
import { type RedisOptions as IoRedisOptions, Redis } from 'ioredis';
import { LIMITS } from '../../../domain/limits.ts';

/** The commands and events of one connection. An ioredis instance fits. */
export interface RedisClient {
  /** State of the connection: `wait`, `connecting`, `ready`, `end` and others of ioredis. */
  readonly status: string;
  /** Options of the client. */
  readonly options: object;
  /** Sends one command. Rejects with the server's error, or the connection's. */
  call(command: string, args: (string | number)[]): Promise<unknown>;
  /** Opens the connection; rejects when that fails, or when it is open already. */
  connect(): Promise<void>;
  /** Closes at once, without waiting for replies. */
  disconnect(reconnect?: boolean): void;
  /**
   * A second client with the same options, overridden by these; it is not connected. For a Cluster
   * the first argument is a list of nodes, empty to keep its own.
   */
  duplicate(override?: object, ofCluster?: object): RedisClient;
  /** Adds a listener for `ready`, `close`, `end`, `error`, `message` and other events. */
  on(event: string, listener: (...args: unknown[]) => void): unknown;
  /** Removes a listener. */
  off(event: string, listener: (...args: unknown[]) => void): unknown;
}

/** The same for a Cluster: it has a client for each of its nodes. */
interface ClusterClient extends RedisClient {
  nodes(role: 'master'): readonly RedisClient[];
}

/** How to reach the server: options of ioredis, for TLS, ACL users, passwords, socket paths. */
export type ConnectionOptions = IoRedisOptions;

/** The library's reconnecting is off: a call that needs the connection opens it, so no timer runs otherwise. */
const OURS = {
  lazyConnect: true,
  enableOfflineQueue: true,
  enableReadyCheck: true,
  autoResendUnfulfilledCommands: false,
  maxRetriesPerRequest: 0,
  retryStrategy: (): null => null,
} as const;

/** Defaults that the options may override. */
const PATIENCE = { connectTimeout: LIMITS.connectMs } as const;

/** The same for a client of a Cluster. */
const OF_CLUSTER = { lazyConnect: true, clusterRetryStrategy: (): null => null } as const;

/** A new connection to this address; not opened yet. */
export function newClient(target: ConnectionOptions): RedisClient {
  // The format of replies is fixed: the decoders expect that of ioredis.
  const { replyMapping: _mapping, ...address } = target;
  return asClient(new Redis({ ...PATIENCE, ...address, ...OURS }));
}

/** A second connection to the server of `client`; not opened yet. */
export function sibling(client: RedisClient): RedisClient {
  return isCluster(client)
    ? client.duplicate([], { ...OF_CLUSTER })
    : client.duplicate({ ...OURS });
}

/** The servers with keys: a scan of all keys asks each. */
export function nodesOf(client: RedisClient): readonly RedisClient[] {
  if (!isCluster(client)) return [client];
  return client.nodes('master');
}

/** Whether a client connects to a Cluster. */
export function isCluster(client: RedisClient): client is ClusterClient {
  return typeof Reflect.get(client, 'nodes') === 'function';
}

/** Whether a value is a client, not options for one. */
export function isClient(value: unknown): value is RedisClient {
  if (typeof value !== 'object' || value === null) return false;
  const has = (name: string): boolean =>
    name in value && typeof Reflect.get(value, name) === 'function';
  return has('call') && has('duplicate') && has('on');
}

/** A client for binary data: replies are buffers, and arguments may be. */
export interface BinaryClient {
  /** Sends one command; texts of its reply are buffers. */
  callBuffer(command: string, args: readonly (string | number | Buffer)[]): Promise<unknown>;
}

/** The same client for binary data; `undefined` if it does not support that, as ioredis does. */
export function binaryClient(client: RedisClient): BinaryClient | undefined {
  return typeof Reflect.get(client, 'callBuffer') === 'function'
    ? (client as RedisClient & BinaryClient)
    : undefined;
}

function asClient(redis: Redis): RedisClient {
  return redis as unknown as RedisClient;
}
