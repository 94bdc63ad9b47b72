// Settings that the server and the workers share.
import { redis } from 'fairloom/redis';

export const backend = () =>
  redis(process.env.REDIS_URL ?? 'redis://localhost:6379', {
    prefix: process.env.REPORTS_PREFIX ?? 'reports',
  });
