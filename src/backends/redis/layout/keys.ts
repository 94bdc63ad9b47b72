/**
 * The names of all keys of Redis. `keysOf` in the backend and the scripts make names of this table, and
 * docs/redis-layout.md is made of it.
 */
import { impossible } from '../../../base/never.ts';
import { QUEUE_KEYS } from './queue-keys.ts';
import { TASK_KEYS } from './task-keys.ts';
import { INDEX_KEYS, NAMESPACE_KEYS, WORKER_KEYS } from './worker-keys.ts';

/** All families by the name that code and scripts call them. */
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

/** The level whose line has no number in its name: most tasks have it. */
export const USUAL_LEVEL = 3;

/** The queue whose keys begin with the prefix alone; those of others with `<prefix>queue:<queue>:`. */
export const USUAL_QUEUE = 'default';

/** A part of a name: text as it is, or parameters; two of them are written as a pair. */
export type NamePart = string | readonly string[];

/** The parts of a name, without the `{p}` or `{queue}` in front, and which of these it begins with. */
export interface NameParts {
  /** The prefix of everything, or that of a queue. */
  readonly start: 'p' | 'queue';
  /** In their order in the name. */
  readonly parts: readonly NamePart[];
}

/** Takes a name of the table apart. */
export function partsOfName(name: string): NameParts {
  const [, first = '', ...rest] = name.split(/[{}]/);
  if (first !== 'p' && first !== 'queue') impossible(`a key begins otherwise: ${name}`);
  // Texts and parameters by turns.
  const parts = rest.map((part, at): NamePart => (at % 2 === 0 ? part : part.split(', ')));
  return { start: first, parts: parts.filter((part) => part !== '') };
}
