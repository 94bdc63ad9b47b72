/**
 * One Redis for a layer of tests. They get its address by `inject('redisUrl')`, or faster by
 * `inject('redisPlace')`, and child processes by `FAIRLOOM_REDIS_URL` (`redis/redis-env.ts`). Tests share the server, so each takes a key prefix of its own.
 */
import type { TestProject } from 'vitest/node';
import { connectionTo } from '../../src/backends/redis/connection/target.ts';
import { type RedisPlace, type RedisServer, startRedis } from './redis/redis-server.ts';
import { isRedisUrl } from './redis/redis-url.ts';

declare module 'vitest' {
  interface ProvidedContext {
    redisUrl: string;
    /** Its socket, if the server is our own. */
    redisPlace: RedisPlace;
  }
}

let server: RedisServer | undefined;

export async function setup(project: TestProject): Promise<void> {
  const given = process.env['FAIRLOOM_TEST_REDIS'];
  if (given !== undefined && isRedisUrl(given)) {
    project.provide('redisUrl', given);
    project.provide('redisPlace', connectionTo(given));
    return;
  }
  const { url, socket } = await start();
  project.provide('redisUrl', url);
  project.provide('redisPlace', { path: socket });
}

export async function teardown(): Promise<void> {
  await server?.stop();
}

async function start(): Promise<RedisServer> {
  try {
    server = await startRedis();
    return server;
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : error}\n`);
    process.exit(1);
  }
}
