import { InvalidOptionError } from '../../domain/errors/errors.ts';
import { checkOptions, keysOf, type OptionKeys } from '../../domain/errors/options.ts';
import type { Backend, BackendInfo, BackendSettings } from '../../domain/port/backend.ts';
import { RedisAsks } from './asks.ts';
import {
  type ConnectionOptions,
  isClient,
  isCluster,
  newClient,
  type RedisClient,
} from './connection/client.ts';
import { Session } from './connection/session.ts';
import { connectionTo } from './connection/target.ts';
import { RedisGraphs } from './graphs.ts';
import { RedisInspect } from './inspect.ts';
import { RedisQueues } from './queues.ts';
import { reconcile } from './reconcile.ts';
import { RedisRuns } from './runs.ts';
import { RedisSchedules } from './schedules.ts';
import { RedisSeries } from './series.ts';
import { RedisStreams } from './streams.ts';
import { RedisTasks } from './tasks.ts';
import { RedisUsers } from './users.ts';
import { RedisWaits } from './waits.ts';
import { checkPrefix, DEFAULT_PREFIX } from './wire/keys.ts';
import type { Scripts } from './wire/scripts.ts';
import { RedisWorkers } from './workers.ts';
import { RedisXCom } from './xcom.ts';

/** Options of the Redis backend. */
export interface RedisOptions {
  /** Prefix of every key, so that applications can share a server; a name. Default `fq`. */
  readonly prefix?: string | undefined;
}

const KEYS: OptionKeys<RedisOptions> = keysOf<RedisOptions>()({ prefix: true });

/**
 * The Redis backend: tasks outlive the process, and all processes with the same server and prefix
 * share them. Redis 6.2 or newer: standalone, behind sentinels, or one slot of a Cluster.
 *
 * @param target - a URL (`redis://user:password@host:6379/0`, `rediss://…`), options of ioredis
 * (TLS, ACL user, socket path), or an ioredis client; a client is used as it is for commands,
 * never closed, and duplicated for blocking calls.
 * @throws `InvalidOptionError` when the target names no server, or an impossible one; when the prefix
 * is invalid, or the client adds one. No message contains a password.
 */
export function redis(
  target: string | ConnectionOptions | RedisClient,
  options: RedisOptions = {},
): Backend {
  return backendOf(target, options, undefined);
}

/** The backend with other scripts, for tests. */
export function backendOf(
  target: string | ConnectionOptions | RedisClient,
  options: RedisOptions,
  scripts: Scripts | undefined,
): Backend {
  checkOptions('redis', options, KEYS);
  const { prefix = DEFAULT_PREFIX } = options;
  checkPrefix(prefix);
  const owned = !isClient(target);
  const client = isClient(target) ? target : newClient(connectionTo(target));
  checkClient(client);
  if (isCluster(client)) checkTag(prefix);
  const session = new Session({
    client,
    owned,
    prefix,
    scripts,
    repairAll: (broken) => reconcile(broken, true, false),
  });
  const workers = new RedisWorkers(session);
  const inspect = new RedisInspect(session);
  const streams = new RedisStreams(session);
  return {
    name: 'redis',
    get capabilities() {
      return { durable: session.isDurable, shared: true };
    },
    tasks: new RedisTasks(session, workers),
    users: new RedisUsers(session),
    queues: new RedisQueues(session),
    workers,
    inspect,
    runs: new RedisRuns(session),
    graphs: new RedisGraphs(session),
    schedules: new RedisSchedules(session),
    xcom: new RedisXCom(session),
    waits: new RedisWaits(session),
    streams,
    asks: new RedisAsks(session),
    series: new RedisSeries(session),
    open: (settings: BackendSettings): Promise<BackendInfo> => session.open(settings),
    close: async (): Promise<void> => {
      session.close();
      workers.close();
      inspect.close();
      streams.close();
    },
  };
}

/** All keys of a namespace are in one slot, which a hash tag fixes. */
function checkTag(prefix: string): void {
  if (prefix.startsWith('{')) return;
  throw new InvalidOptionError('prefix', 'a name in braces on Cluster, as {fq}', prefix);
}

/** A prefix of the client would hide keys from scripts, which build most names. */
function checkClient(client: RedisClient): void {
  const keyPrefix: unknown = Reflect.get(client.options, 'keyPrefix');
  if (keyPrefix === undefined || keyPrefix === '') return;
  throw new InvalidOptionError('client', 'an ioredis client without keyPrefix', keyPrefix);
}
