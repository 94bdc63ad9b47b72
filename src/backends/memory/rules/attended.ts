import type { LeaseRef } from '../../../domain/port/backend.ts';
import type { TaskEntry } from '../store/entities.ts';
import type { Store } from '../store/store.ts';

/** The task of a token: its lease is in force, or its handler waits and no later lease was given. */
export function attendedTask(store: Store, { id, token }: LeaseRef): TaskEntry | undefined {
  const entry = store.records.get(id);
  return entry !== undefined && isAttendedBy(entry, token) ? entry : undefined;
}

/** See {@link attendedTask}. */
export function isAttendedBy(
  { grant, state, optional: { run } }: TaskEntry,
  token: string,
): boolean {
  if (grant?.token !== token) return false;
  return state === 'started' || (run?.attendedBy === token && run.asideFor === undefined);
}
