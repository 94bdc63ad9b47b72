/** The backend on a clock that a test sets. Not part of the package's public API. */
import type { Backend } from '../../domain/port/backend.ts';
import {
  type ConnectionOptions,
  isClient,
  newClient,
  type RedisClient,
} from './connection/client.ts';
import { Connection } from './connection/connection.ts';
import { connectionTo } from './connection/target.ts';
import { backendOf, type RedisOptions } from './redis-backend.ts';
import { DEFAULT_PREFIX, keysOf } from './wire/keys.ts';
import { manualScripts } from './wire/scripts.ts';

/** A backend with its clock. */
export interface ManualRedis {
  readonly backend: Backend;
  /** Sets the clock of the namespace, in ms since the epoch. */
  setTime(ms: number): Promise<void>;
  /** Closes the backend and removes every key of the namespace. */
  dispose(): Promise<void>;
}

/**
 * A backend whose scripts read the time from their own clock hash. Set it before the first call.
 * `repairs`: the test damages records on purpose. Without it an aborted call fails, where otherwise
 * it is sent again with care, which hides the fault.
 */
export function redisForTests(
  target: string | ConnectionOptions | RedisClient,
  options: RedisOptions = {},
  repairs = false,
): ManualRedis {
  const prefix = options.prefix ?? DEFAULT_PREFIX;
  const { clock } = keysOf(prefix);
  const backend = backendOf(target, options, manualScripts(repairs));
  const owned = !isClient(target);
  const connection = new Connection(owned ? newClient(connectionTo(target)) : target, owned);
  return {
    backend,
    setTime: async (ms) => {
      const fields = ['manual_s', Math.floor(ms / 1_000), 'manual_us', (ms % 1_000) * 1_000];
      await connection.command('setTime', 'HSET', [`${clock}-by-hand`, ...fields]);
    },
    dispose: async () => {
      await backend.close();
      await removeAll(connection, prefix);
      connection.close();
    },
  };
}

/** Scans the whole key space, so for tests only. */
async function removeAll(connection: Connection, prefix: string): Promise<void> {
  const pattern = `${prefix.replace(/[?*[\]\\]/g, '\\$&')}:*`;
  for await (const keys of connection.keys('dispose', pattern, 1_000)) {
    if (keys.length > 0) await connection.command('dispose', 'UNLINK', keys);
  }
}
