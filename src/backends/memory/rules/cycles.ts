import { LIMITS } from '../../../domain/limits.ts';
import { resolved } from '../../../domain/port/answered.ts';
import type { EnqueueRefusal } from '../../../domain/port/backend.ts';
import {
  cycleRefusal,
  cycleThrough,
  type EdgeAnswer,
  type EdgeQuestion,
} from '../../../domain/task/cycle-search.ts';
import { findCycle } from '../../../domain/task/dependency-cycle.ts';
import { mayDependOn } from '../../../domain/task/dependency-edge.ts';
import { isEnd, type NewTask } from '../../../domain/task/task.ts';
import type { TaskEntry } from '../store/entities.ts';
import type { Store } from '../store/store.ts';
import { blockedIds } from '../store/task-record.ts';
import type { Batch } from './dependencies.ts';
import { upstreamOf } from './edges.ts';

type CycleRefusal = Extract<EnqueueRefusal, { readonly type: 'cycle' | 'dependency-limit' }>;

/** A task that gets edges, and its context. */
interface Around {
  readonly store: Store;
  readonly id: string;
  readonly user: string;
  /** Ids of its future dependencies. */
  readonly upstreams: readonly string[];
  readonly batch: Batch | undefined;
}

/** A task that others wait for must not wait for one of them, at any distance. */
export function blockedByCycle(
  store: Store,
  task: NewTask,
  batch: Batch | undefined,
): CycleRefusal | undefined {
  const { id, user, dependsOn } = task;
  if (!isNew(store, id, batch)) return undefined;
  if (dependsOn.includes(id)) return { type: 'cycle', path: [id, id] };
  // No task waits for it: it cannot close a cycle.
  if (!store.missing.has(id, user)) return undefined;
  const around = { store, id, user, upstreams: answerers(id, dependsOn, batch), batch };
  return closes(around, store.isFiring ? LIMITS.cycleStep : LIMITS.cycleEdges);
}

/** A cycle between tasks of a batch that comes about because keys answer for some of them. */
export function cycleByKeys(
  store: Store,
  tasks: readonly NewTask[],
  batch: Batch,
): CycleRefusal | undefined {
  if (batch.answered.size === 0) return undefined;
  const made = tasks.filter(({ id }) => isNew(store, id, batch));
  const path = findCycle(
    made.map(({ id, dependsOn }) => ({ id, dependsOn: answerers(id, dependsOn, batch) })),
  );
  return path === undefined ? undefined : { type: 'cycle', path };
}

/** A redrive must not make a failed task wait for one that waits for its redrive. */
export function redriveCycle(store: Store, entry: TaskEntry): CycleRefusal | undefined {
  const upstreams = blockedIds(entry).filter((id) => isLive(upstreamOf(store, entry, id)));
  if (upstreams.length === 0) return undefined;
  const { id, owner } = entry;
  return closes({ store, id, user: owner.user, upstreams, batch: undefined }, LIMITS.cycleStep);
}

function closes(around: Around, most: number): CycleRefusal | undefined {
  return cycleRefusal(
    cycleThrough(around.id, most, (question) => edgesOf(around, question)),
    most,
  );
}

function edgesOf(around: Around, { side, id }: EdgeQuestion): EdgeAnswer {
  return side === 'upstreams' ? upstreamsOf(around, id) : dependentsOf(around, id);
}

function upstreamsOf(around: Around, id: string): readonly string[] {
  const { store, batch } = around;
  if (id === around.id) return around.upstreams;
  const entry = store.records.get(id);
  if (entry === undefined) return answerers(id, itemOf(around, id)?.dependsOn ?? [], batch);
  if (isEnd(entry.state)) return [];
  return blockedIds(entry).filter((other) => {
    const user = userToBe(around, other);
    if (user !== undefined) return mayDependOn({ user: entry.owner.user, ...entry }, user);
    return isLive(upstreamOf(store, entry, other));
  });
}

/** The future user of an id that is not stored yet. */
function userToBe(around: Around, other: string): string | undefined {
  return other === around.id ? around.user : itemOf(around, other)?.user;
}

/** The task of the batch that will be stored under an id. */
function itemOf({ store, batch }: Around, id: string): NewTask | undefined {
  return isNew(store, id, batch) ? batch?.tasks.get(id) : undefined;
}

function dependentsOf(around: Around, id: string): EdgeAnswer {
  const { store, batch } = around;
  const entry = store.records.get(id);
  const user = userToBe(around, id);
  const lists =
    entry === undefined
      ? store.missing.of(id, user ?? '')
      : [entry.optional.waiting, entry.optional.awaitingRedrive].filter(
          (list) => list !== undefined,
        );
  // Tasks of the batch may wait for a stored task, too.
  const inBatch = batch === undefined ? [] : dependentsIn(store, batch, id);
  const size = lists.reduce((sum, list) => sum + list.size, inBatch.length);
  if (size > LIMITS.cycleFan) return undefined;
  const live = lists.flatMap((list) => [...list]).filter(isLive);
  const closing = around.upstreams.includes(id) ? [around.id] : [];
  return [...live.map((one) => one.id), ...inBatch, ...closing];
}

/** Tasks of a batch that wait for an id. */
function dependentsIn(store: Store, batch: Batch, id: string): readonly string[] {
  batch.dependents ??= byUpstream(store, batch);
  return batch.dependents.get(id) ?? [];
}

function byUpstream(store: Store, batch: Batch): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, string[]>();
  for (const { id, dependsOn } of batch.tasks.values()) {
    if (!isNew(store, id, batch)) continue;
    for (const other of answerers(id, dependsOn, batch)) {
      const known = found.get(other);
      if (known === undefined) found.set(other, [id]);
      else known.push(id);
    }
  }
  return found;
}

/** Whether it will be stored, and no key answers for it. */
function isNew(store: Store, id: string, batch: Batch | undefined): boolean {
  return !store.records.has(id) && batch?.answered.has(id) !== true;
}

/** Dependencies of a task after keys have replaced others of its batch. */
function answerers(
  id: string,
  ids: readonly string[],
  batch: Batch | undefined,
): readonly string[] {
  return batch === undefined ? ids : resolved(id, ids, batch.answered);
}

function isLive(entry: TaskEntry | undefined): boolean {
  return entry !== undefined && !isEnd(entry.state);
}
