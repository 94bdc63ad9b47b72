/** Keys with known names. */

import { isEnd, TASK_STATES } from '../../../domain/task/task.ts';
import { KEYS, partsOfName } from '../layout/keys.ts';

/** States whose tasks are in a sorted set. */
export const INDEXED: readonly string[] = ['scheduled', 'deferred'];

/** States whose tasks are in a list. */
export const ENDS: readonly string[] = TASK_STATES.filter(isEnd);

/** Families of one key without anything to check, or never written. */
const LEFT_OUT: ReadonlySet<string> = new Set(['meta', 'oom', 'damaged']);

/** Names without the prefix: those of families of one key, and by state. */
export const FIXED: readonly string[] = Object.entries(KEYS).flatMap(([family, { name }]) => {
  const [first = '', next] = partsOfName(name).parts;
  if (LEFT_OUT.has(family) || typeof first !== 'string') return [];
  if (next === undefined) return [first];
  if (next[0] !== 'state') return [];
  return (family === 'state' ? INDEXED : ENDS).map((state) => `${first}${state}`);
});
