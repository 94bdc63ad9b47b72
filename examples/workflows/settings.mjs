// What the workflow examples share: `--redis <url>` puts them on Redis, else all is in this process.
import { parseArgs } from 'node:util';
import { memory } from 'fairloom';
import { redis } from 'fairloom/redis';

/** Longest wait for an example that takes a second or two, on a machine that does much else. */
export const PATIENCE = '60s';

/** The options of an example, with `redis` among them. */
export function optionsOf(options) {
  return parseArgs({ options: { redis: { type: 'string' }, ...options } }).values;
}

/** Every start gets a prefix of its own, so that two never meet on one server. */
export function backendOf(url, prefix = `example-${process.pid}`) {
  return url === undefined ? memory() : redis(url, { prefix });
}
