import { mayDependOn } from '../../../domain/task/dependency-edge.ts';
import type { TaskEntry } from '../store/entities.ts';
import type { Store } from '../store/store.ts';

/**
 * The task of a dependency; `undefined` if it is not stored, or is another user's that this task
 * may not depend on. A run that was suspended for a task waits for exactly that one.
 */
export function upstreamOf(store: Store, entry: TaskEntry, id: string): TaskEntry | undefined {
  const upstream = store.records.get(id);
  if (upstream === undefined || waitsFor(entry, id)) return upstream;
  const { owner, edges } = entry;
  return mayDependOn({ user: owner.user, edges }, upstream.owner.user) ? upstream : undefined;
}

/** Whether it is a run that is suspended until the end of tasks, this one among them. */
export function waitsFor(entry: TaskEntry, id: string): boolean {
  return entry.optional.run?.waitFor.includes(id) === true;
}
