import { mayDependOn } from '../../../domain/task/dependency-edge.ts';
import type { TaskEntry } from '../store/entities.ts';
import type { Store } from '../store/store.ts';

/**
 * The task that one of its dependencies is; `undefined` when none is stored, or only another user's
 * that it may not depend on. A run that was suspended for a task waits for just that one.
 */
export function upstreamOf(store: Store, entry: TaskEntry, id: string): TaskEntry | undefined {
  const upstream = store.records.get(id);
  if (upstream === undefined || waitsFor(entry, id)) return upstream;
  const { owner, edges } = entry;
  return mayDependOn({ user: owner.user, edges }, upstream.owner.user) ? upstream : undefined;
}

/** It is a run that was suspended until others have ended, this one among them. */
export function waitsFor(entry: TaskEntry, id: string): boolean {
  return entry.optional.run?.waitFor.includes(id) === true;
}
