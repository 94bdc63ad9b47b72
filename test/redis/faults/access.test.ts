/** Ways to reach a server, and servers that must be refused. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { describe, expect, it } from 'vitest';
import type { ConnectionOptions } from '../../../src/backends/redis/connection/client.ts';
import { redis } from '../../../src/backends/redis/redis-backend.ts';
import {
  adminOf,
  atEnd,
  backendOn,
  codeOf,
  freshPrefix,
  kitOn,
  ownServer,
  proxyTo,
  RETENTION,
} from './kit.ts';

/** One task through its whole life, with a wake-up: both connections are used. */
async function roundTrip(target: string | ConnectionOptions): Promise<void> {
  const kit = await kitOn(target);
  await kit.worker('w');
  expect(await kit.lease(1, { wait: true })).toEqual([]);
  const woken = kit.backend.workers.waitForWork('w', 5_000, new AbortController().signal);
  const id = await kit.add();
  expect(await woken).toBe('woken');
  await kit.runToEnd(id);
  expect(await kit.state(id)).toBe('finished');
}

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), 'fairloom-access-'));
  atEnd(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

describe('the server is reached', () => {
  it('with a password', async () => {
    const server = await ownServer({ args: ['--requirepass', 's3cret'] });
    await roundTrip(`redis://:s3cret@127.0.0.1:${server.port}`);
    await roundTrip({ port: server.port, password: 's3cret' });
  });

  it('in another database', async () => {
    const server = await ownServer();
    await roundTrip(`${server.url}/3`);
    expect(await adminOf(server.url).dbsize()).toBe(0);
  });

  it('by a socket path', async () => {
    const path = join(folder(), 'redis.sock');
    await ownServer({ args: ['--unixsocket', path] });
    await roundTrip({ path });
    await roundTrip(path);
  });

  it('by TLS, whose certificate is checked', async () => {
    const dir = folder();
    const [key, cert] = [join(dir, 'key.pem'), join(dir, 'cert.pem')];
    const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=IP:127.0.0.1'];
    const flags = ['-newkey', 'rsa:2048', '-nodes', '-days', '2', '-keyout', key, '-out', cert];
    execFileSync('openssl', ['req', '-x509', ...flags, ...subject], { stdio: 'ignore' });
    // The plain port shows that the server is up; TLS has a port of its own.
    const port = (await ownServer()).port + 20_000;
    const tlsPort = port > 65_000 ? port - 30_000 : port;
    const files = ['--tls-cert-file', cert, '--tls-key-file', key, '--tls-ca-cert-file', cert];
    const only = ['--tls-port', String(tlsPort), '--tls-auth-clients', 'no'];
    await ownServer({ args: [...only, ...files] });
    await roundTrip({ port: tlsPort, tls: { ca: readFileSync(cert) } });
    expect(await codeOf(kitOn(`rediss://127.0.0.1:${tlsPort}`))).toBe('BACKEND_UNAVAILABLE');
  });

  it("through a client of the user's, which stays open", async () => {
    const server = await ownServer();
    const client = new Redis(server.url);
    atEnd(() => client.disconnect());
    const backend = redis(client, { prefix: freshPrefix() });
    await backend.open({ retention: RETENTION });
    expect((await backend.inspect.stats()).counts.queued).toBe(0);
    await backend.close();
    expect(await client.ping()).toBe('PONG');
  });
});

describe('a server is refused', () => {
  it('without, or with the wrong, password', async () => {
    const server = await ownServer({ args: ['--requirepass', 's3cret'] });
    expect(await codeOf(kitOn(server.url))).toBe('BACKEND_UNSUPPORTED');
    const wrong = kitOn(`redis://:wrong@127.0.0.1:${server.port}`);
    expect(await codeOf(wrong)).toBe('BACKEND_UNSUPPORTED');
  });

  it('that is not there', async () => {
    const server = await ownServer();
    await server.kill();
    expect(await codeOf(kitOn(server.url))).toBe('BACKEND_UNAVAILABLE');
    await server.restart();
  });

  it('that is too old', async () => {
    const proxy = await proxyTo();
    const info = 'redis_version:6.0.16\r\n';
    const reply = `$${info.length}\r\n${info}\r\n`;
    proxy.setRule(([name]) =>
      name?.toUpperCase() === 'INFO' ? { type: 'answer', reply } : undefined,
    );
    const error = await kitOn(proxy.url).catch((error: Error) => error);
    expect(error).toMatchObject({ code: 'BACKEND_UNSUPPORTED', retryable: false });
    expect(String(error)).toContain('6.0.16');
  });

  it('whose data has another layout, also after it was open', async () => {
    const prefix = freshPrefix();
    const admin = adminOf();
    await (await kitOn(undefined, prefix)).add();
    const known = Number(await admin.hget(`${prefix}:meta`, 'layout'));
    expect(known).toBeGreaterThan(0);
    await admin.hset(`${prefix}:meta`, 'layout', known + 1);
    const error = await kitOn(undefined, prefix).catch((error: Error) => error);
    expect(error).toMatchObject({ code: 'BACKEND_UNSUPPORTED' });
    expect(String(error)).toContain(`layout ${known + 1}`);
    await admin.hset(`${prefix}:meta`, 'layout', known - 1);
    const older = await kitOn(undefined, prefix).catch((error: Error) => error);
    expect(older).toMatchObject({ code: 'BACKEND_UNSUPPORTED' });
    expect(String(older)).toContain(`layout ${known - 1} of an older version`);
    await admin.hset(`${prefix}:meta`, 'layout', known);
    await kitOn(undefined, prefix);
  });

  it('and a password is in no error', async () => {
    const server = await ownServer();
    await server.kill();
    const backend = backendOn(`redis://someone:canary-s3cret@127.0.0.1:${server.port}`);
    const error = await backend.open({ retention: RETENTION }).catch((error: Error) => error);
    const { inspect } = await import('node:util');
    expect(inspect(error, { depth: 10 })).not.toContain('canary-s3cret');
    await server.restart();
  });

  // O95.10
  it('and nothing is left unhandled when the first connection fails', async () => {
    const unhandled: unknown[] = [];
    const note = (reason: unknown): void => void unhandled.push(reason);
    process.on('unhandledRejection', note);
    atEnd(() => void process.off('unhandledRejection', note));
    const backend = backendOn('redis://127.0.0.1:1');
    const calls = [
      backend.open({ retention: RETENTION }),
      backend.inspect.stats(),
      backend.tasks.tick(),
      backend.inspect.ping(),
    ];
    for (const call of calls) expect(await codeOf(call)).toBe('BACKEND_UNAVAILABLE');
    await new Promise((resolve) => setImmediate(resolve));
    expect(unhandled).toEqual([]);
  });
});
