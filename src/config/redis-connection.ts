/** Connection options of the client library for the configured Redis. */

import { readFileSync } from 'node:fs';
import { addressOf } from '../backends/redis/connection/address.ts';
import type { ConnectionOptions } from '../backends/redis/connection/client.ts';
import { isRecord } from '../base/records.ts';
import { durationMs } from '../base/time.ts';
import { ConfigError } from '../domain/errors/errors.ts';
import type { RedisConfig, TlsConfig } from './config-types.ts';

/**
 * @throws {@link ConfigError} without a URL, or when a file of TLS cannot be read.
 */
export function connectionOf(redis: RedisConfig): ConnectionOptions {
  const { url, username, password, connectTimeout, tls } = redis;
  if (url === undefined) throw refused('redis.url', 'a URL', 'nothing');
  const { isTls, more, ...address } = addressOf('redis.url', url.reveal());
  const connectMs = durationMs(connectTimeout);
  return {
    ...more,
    ...address,
    ...(username === undefined ? {} : { username }),
    ...(password === undefined ? {} : { password: password.reveal() }),
    ...(connectMs === undefined ? {} : { connectTimeout: connectMs }),
    ...(isTls || tls !== undefined ? { tls: tlsOf(tls ?? {}) } : {}),
  };
}

function tlsOf({ ca, cert, key, servername, rejectUnauthorized }: TlsConfig): object {
  return {
    ...(ca === undefined ? {} : { ca: contentsOf('ca', ca) }),
    ...(cert === undefined ? {} : { cert: contentsOf('cert', cert) }),
    ...(key === undefined ? {} : { key: contentsOf('key', key) }),
    ...(servername === undefined ? {} : { servername }),
    ...(rejectUnauthorized === undefined ? {} : { rejectUnauthorized }),
  };
}

function contentsOf(option: keyof TlsConfig, file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    const code = isRecord(error) ? error['code'] : error;
    throw refused(`redis.tls.${option}`, 'a file that can be read', `${file} (${code})`);
  }
}

function refused(path: string, expected: string, got: string): ConfigError {
  return new ConfigError([{ path, expected, got, source: 'configuration' }]);
}
