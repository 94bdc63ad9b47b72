/** What the fault tests of the Redis backend have in common. */
import { Redis } from 'ioredis';
import { expect, inject, onTestFinished } from 'vitest';
import type {
  ConnectionOptions,
  RedisClient,
} from '../../../src/backends/redis/connection/client.ts';
import { redisForTests } from '../../../src/backends/redis/manual-time.ts';
import { redis } from '../../../src/backends/redis/redis-backend.ts';
import { manualScripts, SCRIPTS } from '../../../src/backends/redis/wire/scripts.ts';
import { Kit } from '../../../src/conformance/kit.ts';
import type { Retention } from '../../../src/domain/fairness/settings.ts';
import { LIMITS } from '../../../src/domain/limits.ts';
import type { Backend, BackendInfo } from '../../../src/domain/port/backend.ts';
import { type FaultProxy, startFaultProxy } from '../../support/redis/fault-proxy.ts';
import {
  type RedisOptions,
  type RedisServer,
  startRedis,
} from '../../support/redis/redis-server.ts';

export const RETENTION: Retention = {
  finishedMs: LIMITS.retainFinishedMs,
  failedMs: LIMITS.retainFailedMs,
  canceledMs: LIMITS.retainCanceledMs,
};

/** Ends what a test opened when it is over; what was opened last goes first. */
export function atEnd(cleanup: () => Promise<void> | void): void {
  onTestFinished(cleanup);
}

let made = 0;

/** A prefix that no other test has. */
export function freshPrefix(): string {
  made += 1;
  return `faults-${process.pid}-${made}`;
}

/** A server of this test alone. */
export async function ownServer(options: RedisOptions = {}): Promise<RedisServer> {
  const server = await startRedis(options);
  atEnd(() => server.stop());
  return server;
}

/** A proxy in front of a server; of the layer's own unless told otherwise. */
export async function proxyTo(url: string = inject('redisUrl')): Promise<FaultProxy> {
  const { hostname: host, port } = new URL(url);
  const proxy = await startFaultProxy({ host, port: Number(port) });
  atEnd(() => proxy.close());
  return proxy;
}

/** A plain client, for looking at a server and for what administrators do. */
export function adminOf(url: string = inject('redisUrl')): Redis {
  const admin = new Redis(url);
  admin.on('error', () => undefined);
  atEnd(() => admin.disconnect());
  return admin;
}

/** Teaches the server all scripts, so that the first call of each is one command. */
export async function teach(url: string = inject('redisUrl')): Promise<void> {
  const admin = new Redis(url);
  for (const { library } of [SCRIPTS, manualScripts()]) {
    await admin.call('FUNCTION', 'LOAD', 'REPLACE', library.text);
  }
  admin.disconnect();
}

/**
 * A proxy in front of a server of this test alone, which knows all scripts: of the layer's server other tests flush and
 * remove them, and then the first reply of a call is that its function is not there.
 */
export async function ownProxy(): Promise<FaultProxy> {
  const { url } = await ownServer();
  await teach(url);
  return proxyTo(url);
}

export function backendOn(
  target: string | ConnectionOptions | RedisClient = inject('redisUrl'),
  prefix: string = freshPrefix(),
): Backend {
  const backend = redis(target, { prefix });
  atEnd(() => backend.close());
  return backend;
}

/** The conformance suite's kit on a backend that runs on the server's clock. */
export async function kitOn(
  target: string | ConnectionOptions | RedisClient = inject('redisUrl'),
  prefix: string = freshPrefix(),
): Promise<Kit & { readonly info: BackendInfo }> {
  const backend = backendOn(target, prefix);
  const info = await backend.open({ retention: RETENTION });
  const kit = new Kit(
    {
      backend,
      now: () => Date.now(),
      advance: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
      close: () => backend.close(),
    },
    expect,
  );
  return Object.assign(kit, { info });
}

/** The kit on a clock that the test moves. */
export async function manualKitOn(
  target: string = inject('redisUrl'),
  retention: Retention = RETENTION,
  prefix: string = freshPrefix(),
): Promise<Kit> {
  const manual = redisForTests(target, { prefix });
  atEnd(() => manual.dispose());
  let now = Date.UTC(2026, 0, 5, 12);
  const advance = async (ms: number): Promise<void> => {
    now += ms;
    await manual.setTime(now);
  };
  await advance(0);
  await manual.backend.open({ retention });
  const { backend } = manual;
  return new Kit({ backend, now: () => now, advance, close: () => manual.dispose() }, expect);
}

/** The class and code that an error is judged by. */
export async function codeOf(call: Promise<unknown>): Promise<string> {
  try {
    await call;
    return 'no error';
  } catch (error) {
    return error instanceof Error && 'code' in error ? String(error.code) : String(error);
  }
}
