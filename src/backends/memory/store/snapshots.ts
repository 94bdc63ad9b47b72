import { LIMITS } from '../../../domain/limits.ts';
import type { GraphReply, GraphStore } from '../../../domain/port/backend.ts';
import type { TaskEntry } from './entities.ts';
import type { Snapshot, Store } from './store.ts';

/** How long a removed snapshot is remembered, in multiples of its lifetime. */
const REMEMBERED = 8;

/** See `GraphStore`. */
export function graphStore(store: Store, step: <T>(act: () => T) => Promise<T>): GraphStore {
  return {
    save: (hash, body) => step(() => save(store, hash, body)),
    load: (hash) => step(() => load(store, hash)),
  };
}

function save(store: Store, hash: string, body: string): 'saved' | 'known' {
  const known = alive(store, hash);
  if (known !== undefined) {
    touch(store, known);
    return 'known';
  }
  const until = store.now + LIMITS.graphTtlMs;
  store.snapshots.set(hash, { body, until, neededBy: new Set() });
  return 'saved';
}

function load(store: Store, hash: string): GraphReply {
  const known = alive(store, hash);
  if (known?.body !== undefined) {
    touch(store, known);
    return { kind: 'found', body: known.body };
  }
  return { kind: store.snapshots.has(hash) ? 'expired' : 'unknown' };
}

/** The snapshot before its expiry; an expired one keeps its entry without the body. */
function alive(store: Store, hash: string): Snapshot | undefined {
  const found = store.snapshots.get(hash);
  if (found === undefined || found.body === undefined) return undefined;
  if (found.neededBy.size > 0 || found.until > store.now) return found;
  found.body = undefined;
  return undefined;
}

function touch(store: Store, snapshot: Snapshot): void {
  if (snapshot.neededBy.size === 0) snapshot.until = store.now + LIMITS.graphTtlMs;
}

/** Whether a task that needs the snapshot may be stored. */
export function hasSnapshot(store: Store, hash: string): boolean {
  return alive(store, hash) !== undefined;
}

/** A task or a schedule needs the snapshot: it does not expire. */
export function holdSnapshot(store: Store, hash: string, holder: string): void {
  store.snapshots.get(hash)?.neededBy.add(holder);
}

/** Called when the record of a task is removed. */
export function dropSnapshot(store: Store, entry: TaskEntry): void {
  const hash = entry.optional.run?.graph;
  if (hash !== undefined) letGoOfSnapshot(store, hash, entry.id);
}

/** The holder no longer needs the snapshot. */
export function letGoOfSnapshot(store: Store, hash: string, holder: string): void {
  const snapshot = store.snapshots.get(hash);
  if (snapshot === undefined) return;
  snapshot.neededBy.delete(holder);
  touch(store, snapshot);
}

/** Removes expired snapshots; part of every tick, a few at a time. */
export function forgetSnapshots(store: Store, most: number): void {
  let left = most;
  for (const [hash, snapshot] of store.snapshots) {
    if (left-- <= 0) return;
    if (snapshot.neededBy.size > 0 || snapshot.until > store.now) continue;
    snapshot.body = undefined;
    const forgetAt = snapshot.until + (REMEMBERED - 1) * LIMITS.graphTtlMs;
    if (forgetAt <= store.now) store.snapshots.delete(hash);
  }
}
