/** What the options of the connection do: each test is named after the option whose effect it shows. */
import { execFileSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { createServer, type Server as TcpServer } from 'node:net';
import { dirname } from 'node:path';
import { BackendUnavailableError, Fairloom } from 'fairloom';
import { type ConfigInput, fairloomOptions, loadConfig } from 'fairloom/config';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { connectionOf } from '../../src/config/redis-connection.ts';
import { silentLogger } from '../../src/logging/logger.ts';
import { type RedisServer, startRedis } from '../support/redis/redis-server.ts';
import { fileOf, problemsOf } from './kit.ts';

const PREFIX = `config-${process.pid}`;

async function loomOn(overrides: ConfigInput): Promise<Fairloom> {
  const { config } = await loadConfig({ file: false, env: {}, overrides });
  return new Fairloom({ ...(await fairloomOptions(config)), log: silentLogger });
}

/** The error code with which one call ends, or `ok`. */
async function outcome(redis: ConfigInput['redis']): Promise<string> {
  const loom = await loomOn({ redis: { keyPrefix: PREFIX, ...redis } });
  try {
    await loom.stats();
    return 'ok';
  } catch (error) {
    return String((error as { readonly code?: unknown }).code);
  } finally {
    await loom.close({ timeout: 0 });
  }
}

describe('the backend', () => {
  it('backend memory keeps tasks in the process, redis in Redis', async () => {
    const redis = { url: inject('redisUrl'), keyPrefix: `${PREFIX}-backend` };
    for (const backend of ['memory', 'redis'] as const) {
      const [here, there] = [await loomOn({ backend, redis }), await loomOn({ backend, redis })];
      const { id } = await here.enqueueByName('any');
      expect([backend, (await there.tasks.get(id)) !== undefined]).toEqual([
        backend,
        backend === 'redis',
      ]);
      await Promise.all([here.close(), there.close()]);
    }
  });

  it('redis.url is where tasks go', async () => {
    expect(await outcome({ url: inject('redisUrl') })).toBe('ok');
    expect(await outcome({ url: 'redis://127.0.0.1:1' })).toBe('BACKEND_UNAVAILABLE');
  });

  it('redis.keyPrefix begins every key', async () => {
    const keyPrefix = `${PREFIX}-keys`;
    const loom = await loomOn({ redis: { url: inject('redisUrl'), keyPrefix } });
    await loom.enqueueByName('any');
    await loom.close();
    const client = new Redis(inject('redisUrl'));
    const keys = await client.keys(`${keyPrefix}*`);
    expect(keys.length).toBeGreaterThan(1);
    await client.del(...keys);
    client.disconnect();
  });

  it('redis.connectTimeout ends an attempt to connect', async () => {
    // It takes the connection, and never answers the greeting of TLS.
    const mute: TcpServer = createServer(() => undefined).listen(0, '127.0.0.1');
    await new Promise((resolve) => mute.once('listening', resolve));
    const { port } = mute.address() as { readonly port: number };
    const loom = await loomOn({
      redis: { url: `rediss://127.0.0.1:${port}`, connectTimeout: '60ms' },
    });
    await expect(loom.stats()).rejects.toThrow(BackendUnavailableError);
    await expect(loom.stats()).rejects.toThrow('ETIMEDOUT');
    await loom.close({ timeout: 0 });
    mute.close();
  });
});

describe('a server with accounts', () => {
  let server: RedisServer;
  beforeAll(async () => {
    server = await startRedis({
      args: ['--user', 'app', 'on', '>s3cret', '~*', '&*', '+@all', '--user', 'default', 'off'],
    });
  });
  afterAll(() => server?.stop());

  it('redis.username is the account', async () => {
    const url = `redis://:s3cret@127.0.0.1:${server.port}`;
    expect(await outcome({ url })).toBe('BACKEND_UNSUPPORTED');
    expect(await outcome({ url, username: 'app' })).toBe('ok');
  });

  it('redis.password goes before that of the URL', async () => {
    const url = `redis://app:wrong@127.0.0.1:${server.port}`;
    expect(await outcome({ url })).toBe('BACKEND_UNSUPPORTED');
    expect(await outcome({ url, password: 's3cret' })).toBe('ok');
  });
});

describe('TLS', () => {
  let server: RedisServer;
  let url: string;
  const [key, cert] = [fileOf('', 'key.pem'), fileOf('', 'cert.pem')];

  beforeAll(async () => {
    const names = 'subjectAltName=DNS:redis.internal,IP:127.0.0.1';
    const subject = ['-subj', '/CN=redis.internal', '-addext', names];
    const flags = ['-newkey', 'rsa:2048', '-nodes', '-days', '2', '-keyout', key, '-out', cert];
    execFileSync('openssl', ['req', '-x509', ...flags, ...subject], { stdio: 'ignore' });
    // The plain port shows that the server is up; TLS has a port of its own.
    const usual = await startRedis();
    await usual.stop();
    const port = usual.port > 45_000 ? usual.port - 30_000 : usual.port + 20_000;
    const files = ['--tls-cert-file', cert, '--tls-key-file', key, '--tls-ca-cert-file', cert];
    server = await startRedis({
      args: ['--tls-port', String(port), '--tls-auth-clients', 'yes', ...files],
    });
    url = `redis://127.0.0.1:${port}`;
  });
  afterAll(() => server?.stop());

  it('redis.tls.ca is the authority that is believed, relative to the file', async () => {
    const good = { cert, key };
    expect(await outcome({ url, tls: { ...good, ca: cert } })).toBe('ok');
    expect(await outcome({ url, tls: good })).toBe('BACKEND_UNAVAILABLE');
    const file = fileOf(`redis: { url: "${url}", tls: { ca: ./cert.pem } }`);
    const { config } = await loadConfig({ file, env: {} });
    expect(config.redis.tls).toEqual({ ca: `${dirname(file)}/cert.pem` });
  });

  it('redis.tls.cert is what the client shows to a server that asks', async () => {
    expect(await outcome({ url, tls: { ca: cert, cert, key } })).toBe('ok');
    expect(await outcome({ url, tls: { ca: cert } })).toBe('BACKEND_UNAVAILABLE');
  });

  it('redis.tls.key is the key of that certificate, and must be there', async () => {
    const missing = fileOf('', 'missing.pem');
    rmSync(missing);
    const tls = { ca: cert, cert, key: missing };
    const problems = await problemsOf(outcome({ url, tls }));
    expect(problems).toMatchObject([{ path: 'redis.tls.key', got: `${missing} (ENOENT)` }]);
    expect(await outcome({ url, tls: { ca: cert, cert, key } })).toBe('ok');
  });

  it('redis.tls.servername is the name that the certificate must have', async () => {
    const tls = { ca: cert, cert, key };
    expect(await outcome({ url, tls: { ...tls, servername: 'redis.internal' } })).toBe('ok');
    expect(await outcome({ url, tls: { ...tls, servername: 'elsewhere' } })).toBe(
      'BACKEND_UNAVAILABLE',
    );
  });

  it('redis.tls.rejectUnauthorized false takes any certificate', async () => {
    expect(await outcome({ url, tls: { cert, key, rejectUnauthorized: false } })).toBe('ok');
    expect(await outcome({ url, tls: { cert, key, rejectUnauthorized: true } })).toBe(
      'BACKEND_UNAVAILABLE',
    );
  });
});

describe('an address', () => {
  const KEYS = ['host', 'port', 'path', 'db', 'username', 'password', 'family'] as const;

  it.each([
    'redis://localhost',
    'redis://localhost:6380/3',
    'redis://me:s3%2Fcret@example.org:6379',
    'redis://:s3cret@10.0.0.1/0',
    'redis://me@host',
    'redis://[::1]:6379/2',
    'rediss://host:6380',
    'redis://host?family=6',
    '/run/redis.sock',
    '/run/redis.sock?db=2',
  ])('%s means what it means to ioredis', async (url) => {
    const { config } = await loadConfig({ file: false, env: {}, overrides: { redis: { url } } });
    const [ours, theirs] = [connectionOf(config.redis), url].map((target) => {
      const { options } = new Redis(target as string, { lazyConnect: true });
      const isTls = options.tls !== undefined;
      // A URL without a user names the empty one to ioredis, which sends none then.
      const named = KEYS.map((key) => [key, options[key] || undefined] as const);
      return { ...Object.fromEntries(named), isTls };
    });
    expect(ours).toEqual(theirs);
  });
});
