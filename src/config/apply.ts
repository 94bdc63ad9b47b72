/** Applies a configuration: options of a client, and settings in the store. */
import { memory } from '../backends/memory/memory-backend.ts';
import { withIoredis } from '../backends/redis/connection/with-ioredis.ts';
import { durationMs } from '../base/time.ts';
import type { Fairloom } from '../client/client.ts';
import type { FairloomOptions } from '../core/options.ts';
import type { Backend } from '../domain/port/backend.ts';
import type { Config, DataConfig } from './config-types.ts';
import { codecOf } from './encryption.ts';
import { connectionOf } from './redis-connection.ts';

/**
 * Options of a `Fairloom`: backend, defaults, retention, `scheduler`, `xcom`, `requireUser`,
 * `logLevel`, `logErrors`, `series`, `codec`. The caller adds tasks and other code. Nothing is
 * connected yet.
 *
 * @throws {@link ConfigError} when a file of TLS cannot be read; `BackendUnsupportedError`
 * when the backend is Redis and the package `ioredis` is not installed.
 */
export function fairloomOptions(config: Config): Promise<FairloomOptions> {
  return optionsOf(config, false);
}

/** The same for maintenance: it refuses a data folder that a live process owns. */
export function maintenanceOptions(config: Config): Promise<FairloomOptions> {
  return optionsOf(config, true);
}

async function optionsOf(config: Config, maintains: boolean): Promise<FairloomOptions> {
  const { requireUser, logLevel, logErrors, series, defaults, retention, scheduler, xcom } = config;
  const switches = { requireUser, logLevel, logErrors, series };
  const codec = config.encryption === undefined ? undefined : codecOf(config.encryption);
  const backend = await backendOf(config, maintains);
  return { backend, ...switches, defaults, retention, scheduler, xcom, codec };
}

/**
 * Stores the settings of queues and users in a configuration, and leaves all others. May be
 * repeated. Throws the errors of `loom.queues.set` and `loom.users.set`.
 */
export async function applySettings(loom: Fairloom, config: Config): Promise<void> {
  for (const [queue, settings] of Object.entries(config.queues)) {
    await loom.queues.set(queue, settings);
  }
  for (const [user, settings] of Object.entries(config.users)) {
    await loom.users.set(user, settings);
  }
}

async function backendOf({ backend, redis, data }: Config, maintains: boolean): Promise<Backend> {
  if (backend === 'memory') return memory();
  if (backend === 'file') return fileBackendOf(data, maintains);
  const connection = connectionOf(redis);
  const library = await libraryOf();
  return library.redis(connection, { prefix: redis.keyPrefix });
}

/** Loaded only here, for those who keep tasks in a folder. */
async function fileBackendOf(
  { folder = '', sync, maxBytes }: DataConfig,
  maintains: boolean,
): Promise<Backend> {
  const { file, fileForMaintenance } = await import('../backends/file/file-backend.ts');
  const everyMs = sync === 'always' ? undefined : durationMs(sync);
  const open = maintains ? fileForMaintenance : file;
  return open(folder, { sync: everyMs === undefined ? 'always' : { everyMs }, maxBytes });
}

/** Loaded only here: `ioredis` is installed only where Redis is used. */
function libraryOf(): Promise<typeof import('../backends/redis/redis-backend.ts')> {
  return withIoredis(() => import('../backends/redis/redis-backend.ts'));
}
