/**
 * Names of all keys of Redis. `keysOf` in the backend and the scripts build names from this table,
 * and docs/redis-layout.md is generated from it.
 */
import { impossible } from '../../../base/never.ts';
import { QUEUE_KEYS } from './queue-keys.ts';
import { TASK_KEYS } from './task-keys.ts';
import { INDEX_KEYS, NAMESPACE_KEYS, WORKER_KEYS } from './worker-keys.ts';

/** All families by their name in code and scripts. */
export const KEYS: typeof TASK_KEYS &
  typeof QUEUE_KEYS &
  typeof WORKER_KEYS &
  typeof NAMESPACE_KEYS &
  typeof INDEX_KEYS = {
  ...TASK_KEYS,
  ...QUEUE_KEYS,
  ...WORKER_KEYS,
  ...NAMESPACE_KEYS,
  ...INDEX_KEYS,
};

/** The level that is omitted in the name of its line: most tasks have it. */
export const USUAL_LEVEL = 3;

/** The queue whose keys begin with the prefix alone; those of others begin with `<prefix>queue:<queue>:`. */
export const USUAL_QUEUE = 'default';

/** Part of a name: text as it is, or parameters; two parameters are written as a pair. */
export type NamePart = string | readonly string[];

/** Parts of a name, and which prefix it begins with. */
export interface NameParts {
  /** The prefix of the namespace, or that of a queue. */
  readonly start: 'p' | 'queue';
  /** Parts in the order of the name, without the prefix. */
  readonly parts: readonly NamePart[];
}

/** Parses a name of the table. */
export function partsOfName(name: string): NameParts {
  const [, first = '', ...rest] = name.split(/[{}]/);
  if (first !== 'p' && first !== 'queue') impossible(`a key begins otherwise: ${name}`);
  // Texts and parameters alternate.
  const parts = rest.map((part, at): NamePart => (at % 2 === 0 ? part : part.split(', ')));
  return { start: first, parts: parts.filter((part) => part !== '') };
}
