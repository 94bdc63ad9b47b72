import type { EnqueueRefusal } from '../../../domain/port/backend.ts';
import { mayDependOn } from '../../../domain/task/dependency-edge.ts';
import type { NewTask } from '../../../domain/task/task.ts';
import { isEnd } from '../../../domain/task/task.ts';
import { byArrival, type TaskEntry } from '../store/entities.ts';
import { SortedList } from '../store/sorted-list.ts';
import type { Store } from '../store/store.ts';
import { blockedIds } from '../store/task-record.ts';
import { upstreamOf } from './edges.ts';
import { awaitRedrive, endByUpstream, policyFor, satisfy, waitFor } from './end.ts';
import { setDeadline } from './places.ts';

/** Effects of earlier tasks of an atomic batch on later ones. */
export interface Batch {
  readonly tasks: ReadonlyMap<string, NewTask>;
  /** By the scope of a key: its future owner, and the task that runs after that. */
  readonly keys: Map<string, { readonly owner: string; readonly follower?: string }>;
  readonly waiting: Map<string, number>;
  /** Tasks that a key answers, and the task that it answers with. */
  readonly answered: Map<string, string>;
  /** By id, the tasks of the batch that wait for it; computed on first use. */
  dependents?: ReadonlyMap<string, readonly string[]>;
}

/** Why the dependencies of a task forbid it, if they do. */
export function checkDependencies(
  store: Store,
  task: NewTask,
  batch: ReadonlyMap<string, NewTask> | undefined,
): EnqueueRefusal | undefined {
  for (const id of task.dependsOn) {
    const user = batch?.get(id)?.user ?? store.records.get(id)?.owner.user;
    if (user === undefined) {
      if (task.edges.onMissing !== 'refuse') continue;
      return { type: 'unknown-dependency', dependency: id };
    }
    if (!mayDependOn(task, user)) {
      return { type: 'cross-user', dependency: id };
    }
  }
  return undefined;
}

/**
 * Links a new entry to its dependencies. One that has ended already may end the entry at once,
 * which the returned function does once the entry is in an index.
 */
export function link(store: Store, entry: TaskEntry): (() => void) | undefined {
  let ending: (() => void) | undefined;
  for (const id of entry.dependsOn) {
    const upstream = upstreamOf(store, entry, id);
    if (upstream === undefined) {
      if (entry.edges.onMissing !== 'satisfied') blockByMissing(store, id, entry);
      else entry.own().absent = new Set([...(entry.optional.absent ?? []), id]);
    } else if (!isEnd(upstream.state)) {
      block(entry, id);
      listen(entry, upstream);
    } else {
      // All are linked, even after one that ends the task: a redrive checks all of them again.
      const next = linkToEnded(store, upstream, entry);
      ending ??= next;
    }
  }
  return ending;
}

function linkToEnded(
  store: Store,
  upstream: TaskEntry,
  entry: TaskEntry,
): (() => void) | undefined {
  const policy = policyFor(upstream, entry);
  if (policy === 'run') {
    satisfy(store, upstream, entry);
    return undefined;
  }
  block(entry, upstream.id);
  if (policy === 'wait') {
    awaitRedrive(store, upstream, entry);
    return undefined;
  }
  return () => endByUpstream(store, upstream, { entry, policy });
}

function blockByMissing(store: Store, id: string, entry: TaskEntry): void {
  block(entry, id);
  store.missing.add(id, entry);
  waitFor(store, entry);
}

/** The entry waits for a task that has not ended. */
export function blockBy(entry: TaskEntry, upstream: TaskEntry): void {
  block(entry, upstream.id);
  listen(entry, upstream);
}

function block(entry: TaskEntry, id: string): void {
  const own = entry.own();
  own.blocked ??= new Set();
  own.blocked.add(id);
}

/** Adds the entry to the tasks that are updated at the upstream's end. */
function listen(entry: TaskEntry, upstream: TaskEntry): void {
  const own = upstream.own();
  own.waiting ??= new SortedList(byArrival);
  own.waiting.add(entry);
}

/** Checks the unsatisfied dependencies of a redriven entry again. */
export function relink(store: Store, entry: TaskEntry): void {
  const unsatisfied = blockedIds(entry);
  entry.own().blocked = undefined;
  for (const id of unsatisfied) {
    const upstream = upstreamOf(store, entry, id);
    if (upstream === undefined) blockByMissing(store, id, entry);
    else if (!isEnd(upstream.state)) {
      block(entry, id);
      listen(entry, upstream);
    } else if (upstream.state === 'finished') satisfy(store, upstream, entry);
    else {
      block(entry, id);
      awaitRedrive(store, upstream, entry);
    }
  }
}

/** Lifts the limit of a wait when all dependencies can end without help again. */
export function rewait(store: Store, entry: TaskEntry): void {
  for (const id of entry.optional.blocked ?? []) {
    const upstream = upstreamOf(store, entry, id);
    if (upstream === undefined || isEnd(upstream.state)) return;
  }
  entry.own().waitUntil = undefined;
  setDeadline(store, entry);
}
