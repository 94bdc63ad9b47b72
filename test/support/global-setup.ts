/**
 * One Redis for a layer of tests. They get its address by `inject('redisUrl')`, child processes by
 * `FAIRLOOM_REDIS_URL` (`redis/redis-env.ts`). Tests share the server, so each takes a key prefix of its own.
 */
import type { TestProject } from 'vitest/node';
import { isRedisUrl, type RedisServer, startRedis } from './redis/redis-server.ts';

declare module 'vitest' {
  interface ProvidedContext {
    redisUrl: string;
  }
}

let server: RedisServer | undefined;

export async function setup(project: TestProject): Promise<void> {
  const given = process.env['FAIRLOOM_TEST_REDIS'];
  project.provide('redisUrl', given !== undefined && isRedisUrl(given) ? given : await start());
}

export async function teardown(): Promise<void> {
  await server?.stop();
}

async function start(): Promise<string> {
  try {
    server = await startRedis();
    return server.url;
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : error}\n`);
    process.exit(1);
  }
}
