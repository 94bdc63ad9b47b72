import type { LeaseRef, RunStore } from '../../domain/backend.ts';
import type { Store } from './store.ts';

type Step = <T>(act: () => T) => Promise<T>;

/** See `RunStore`: the journal is part of the task's record. */
export function runStore(store: Store, step: Step, look: Step): RunStore {
  return {
    checkpoint: (lease, entries) => step(() => checkpoint(store, lease, entries)),
    load: (id) =>
      look(() => Object.fromEntries(store.records.get(id)?.rare.run?.journal ?? new Map())),
  };
}

function checkpoint(
  store: Store,
  { id, token }: LeaseRef,
  entries: Readonly<Record<string, string | null>>,
): 'ok' | 'lost' {
  const entry = store.records.get(id);
  if (entry === undefined || entry.token !== token) return 'lost';
  const { journal } = entry.ownRun();
  for (const [field, value] of Object.entries(entries)) {
    if (value === null) journal.delete(field);
    else journal.set(field, value);
  }
  if (entry.rare.losses > 0) entry.own().losses = 0;
  return 'ok';
}
