/** The Redis backend; needs the package `ioredis`. */
export type { ConnectionOptions, RedisClient } from './backends/redis/connection/client.ts';
export { type RedisOptions, redis } from './backends/redis/redis-backend.ts';
