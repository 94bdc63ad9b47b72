/** Options of a definition as stored in a graph: data, durations in ms. */
import type { Json } from '../graph/graph-binding.ts';
import type { DefinitionOptions } from './task-definition.ts';
import {
  backoffOption,
  costOption,
  durationOption,
  levelOf,
  retriesOption,
  timeoutOption,
} from './task-options.ts';

/**
 * The options that a definition sets, without code (`decider`, a backoff function). A timeout of 0
 * means none.
 */
export function nodeOptions(where: string, options: DefinitionOptions): Record<string, Json> {
  const { retries, backoff, timeout, queue, priority, cost, expiresIn } = options;
  const data: Record<string, Json> = {};
  if (retries !== undefined) data['retries'] = retriesOption(`${where}.retries`, retries);
  if (backoff !== undefined && typeof backoff !== 'function') {
    data['backoff'] = Object.freeze({ ...backoffOption(`${where}.backoff`, backoff) });
  }
  if (timeout !== undefined) data['timeoutMs'] = timeoutOption(`${where}.timeout`, timeout);
  if (queue !== undefined) data['queue'] = queue;
  if (priority !== undefined) data['level'] = levelOf(`${where}.priority`, priority);
  if (cost !== undefined) data['cost'] = costOption(`${where}.cost`, cost);
  if (expiresIn !== undefined) {
    const bounds = { least: 1, most: Number.MAX_SAFE_INTEGER };
    data['expiresInMs'] = durationOption(`${where}.expiresIn`, expiresIn, bounds);
  }
  return data;
}
