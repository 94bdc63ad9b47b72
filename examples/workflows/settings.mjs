// Settings of the workflow examples: `--redis <url>` runs them on Redis, otherwise in this process.
import { parseArgs } from 'node:util';
import { memory } from 'fairloom';
import { redis } from 'fairloom/redis';

/** Longest wait for an example that takes a second or two, on a busy machine. */
export const PATIENCE = '60s';

/** The options of an example, with `redis` among them. */
export function optionsOf(options) {
  return parseArgs({ options: { redis: { type: 'string' }, ...options } }).values;
}

/** Every start gets its own prefix, so that two never share keys on one server. */
export function backendOf(url, prefix = `example-${process.pid}`) {
  return url === undefined ? memory() : redis(url, { prefix });
}
