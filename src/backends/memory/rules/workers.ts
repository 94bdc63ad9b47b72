import { compareUtf8 } from '../../../base/utf8-order.ts';
import { InvalidOptionError } from '../../../domain/errors/errors.ts';
import { workerIdTaken } from '../../../domain/errors/worker-id.ts';
import { LIMITS } from '../../../domain/limits.ts';
import type { Registration, WorkerInfo, WorkerSpec } from '../../../domain/port/inspection.ts';
import type { NameList, QueueEntry, UserEntry } from '../store/entities.ts';
import { extract, insert, reindex } from '../store/ready-index.ts';
import { SortedList } from '../store/sorted-list.ts';
import type { Store, WorkerEntry } from '../store/store.ts';
import { byFinish, startTag } from '../store/tag-order.ts';
import type { Scope } from './choose.ts';

/** See `WorkerStore.register`. */
export function register(store: Store, spec: WorkerSpec, registration: Registration = {}): void {
  const before = store.workers.get(spec.id);
  const { instance } = registration;
  if (
    before !== undefined &&
    isOther(before, instance) &&
    wasSeen(store, before, LIMITS.workerIdMs)
  ) {
    throw workerIdTaken(spec.id);
  }
  const going = registration.starts === true ? undefined : before;
  checkListsPerUser(store, spec);
  const entry: WorkerEntry = {
    spec,
    names: new Set(spec.names),
    instance,
    startedAt: going?.startedAt ?? store.now,
    attempts: going?.attempts ?? { succeeded: 0, failed: 0, lost: 0 },
    lastSeenAt: store.now,
    lastRequest: before?.lastRequest ?? '',
    lastLeases: before?.lastLeases ?? [],
    token: before?.token ?? false,
    wake: before?.wake,
    offLists: isListed(spec),
  };
  if (before !== undefined) store.line.delete(before);
  store.workers.set(spec.id, entry);
  rejoin(store, entry);
  // Last, so that a list of both the old and the new spec keeps its clock.
  if (before !== undefined) leaveLists(store, spec.id, entry.spec);
  // After an outage, or a step of the clock, live workers may not have called yet.
  if (store.now < store.sweepAfter) return;
  for (const other of store.workers.values()) {
    if (store.now - other.lastSeenAt > LIMITS.unknownTaskMs) forgetWorker(store, other);
  }
}

/** See `WorkerStore.unregister`. */
export function unregister(store: Store, id: string, instance: string | undefined): void {
  const entry = store.workers.get(id);
  if (entry === undefined || isOther(entry, instance)) return;
  forgetWorker(store, entry);
  for (const name of entry.names) store.names.set(name, store.now);
  for (const [name, at] of store.names) {
    if (store.now - at >= LIMITS.unknownTaskMs) store.names.delete(name);
  }
  entry.wake?.();
}

function forgetWorker(store: Store, { spec }: WorkerEntry): void {
  const entry = store.workers.get(spec.id);
  store.workers.delete(spec.id);
  if (entry !== undefined) store.line.delete(entry);
  leaveLists(store, spec.id);
}

/** Last call of a worker that knows this task name, if within the last hour. */
export function nameKnownAt(store: Store, name: string): number | undefined {
  let latest = store.names.get(name) ?? 0;
  for (const { names, lastSeenAt } of store.workers.values()) {
    if (lastSeenAt > latest && names.has(name)) latest = lastSeenAt;
  }
  return latest > store.now - LIMITS.unknownTaskMs ? latest : undefined;
}

/**
 * Every lease, settle and extend shows that a worker is live. A worker whose lists were dropped is
 * on them again with its next lease.
 */
export function seen(store: Store, worker: WorkerEntry): void {
  if (!worker.offLists) worker.lastSeenAt = store.now;
}

/** A new or returning worker is added to its lists. */
export function rejoin(store: Store, worker: WorkerEntry): void {
  worker.lastSeenAt = store.now;
  if (worker.offLists) joinLists(store, worker);
}

/** Removes silent workers from their lists. */
export function dropSilent(store: Store): boolean {
  for (const worker of store.workers.values()) {
    if (worker.offLists || !isListed(worker.spec) || isLive(store, worker)) continue;
    leaveLists(store, worker.spec.id);
    worker.offLists = true;
  }
  return false;
}

/** A worker without an instance may be the same. */
function isOther(worker: WorkerEntry, instance: string | undefined): boolean {
  return worker.instance !== undefined && instance !== undefined && worker.instance !== instance;
}

function isLive(store: Store, worker: WorkerEntry): boolean {
  return wasSeen(store, worker, LIMITS.workerSilenceMs);
}

function wasSeen(store: Store, worker: WorkerEntry, withinMs: number): boolean {
  // A worker seen far in the future was last seen before the clock was set back.
  return Math.abs(store.now - worker.lastSeenAt) <= withinMs;
}

/** Live workers by id, each with its number of leases. */
export function liveWorkers(store: Store): readonly WorkerInfo[] {
  const running = new Map<string, number>();
  for (const { grant } of store.byState.started) {
    const worker = grant?.worker ?? '';
    running.set(worker, (running.get(worker) ?? 0) + 1);
  }
  return [...store.workers.values()]
    .filter((worker) => isLive(store, worker))
    .sort((a, b) => compareUtf8(a.spec.id, b.spec.id))
    .map((worker) => ({
      ...worker.spec,
      startedAt: worker.startedAt,
      lastSeenAt: worker.lastSeenAt,
      running: running.get(worker.spec.id) ?? 0,
      attempts: { ...worker.attempts },
    }));
}

/** The lists that limit a worker's users; `undefined`: none. */
export function scopeOf(worker: WorkerEntry, queue: QueueEntry): Scope | undefined {
  const { assignedUsers, stealTargets } = worker.spec;
  if (assignedUsers === undefined && stealTargets === undefined) return undefined;
  const assigned =
    assignedUsers === undefined ? undefined : queue.lists.get(listId('a', assignedUsers));
  if (stealTargets === undefined || stealTargets === 'any') {
    return { assigned, steal: stealTargets };
  }
  return { assigned, steal: queue.lists.get(listId('s', stealTargets)) };
}

/** Wakes up to `most` waiting workers that may serve this queue, if it has runnable tasks. */
export function wakeFor(store: Store, queue: QueueEntry, most: number): void {
  let left = Math.min(most, LIMITS.wakeTokens);
  if (left === 0 || queue.runnable === 0 || store.line.size === 0) return;
  for (const worker of store.line) {
    if (!mayServe(worker, queue)) continue;
    wake(store, worker);
    if (--left === 0) return;
  }
}

/** Ends the wait of a worker, or skips its next wait if it is awake. */
export function wake(store: Store, worker: WorkerEntry): void {
  store.line.delete(worker);
  worker.token = true;
  worker.wake?.();
}

function mayServe(worker: WorkerEntry, queue: QueueEntry): boolean {
  if (!worker.spec.queues.includes(queue.queue)) return false;
  const scope = scopeOf(worker, queue);
  if (scope === undefined || scope.steal === 'any') return true;
  return (scope.assigned?.ready.size ?? 0) > 0 || (scope.steal?.ready.size ?? 0) > 0;
}

function isListed(spec: WorkerSpec): boolean {
  return spec.assignedUsers !== undefined || Array.isArray(spec.stealTargets);
}

function listId(kind: 'a' | 's', names: readonly string[]): string {
  return `${kind}${JSON.stringify([...new Set(names)].sort(compareUtf8))}`;
}

function listsOf(spec: WorkerSpec): readonly { kind: 'a' | 's'; names: readonly string[] }[] {
  const lists: { kind: 'a' | 's'; names: readonly string[] }[] = [];
  if (spec.assignedUsers !== undefined) lists.push({ kind: 'a', names: spec.assignedUsers });
  if (spec.stealTargets !== undefined && spec.stealTargets !== 'any') {
    lists.push({ kind: 's', names: spec.stealTargets });
  }
  return lists;
}

/** A user is added to each of its lists when it becomes ready, so they are bounded. */
function checkListsPerUser(store: Store, spec: WorkerSpec): void {
  for (const queueName of spec.queues) {
    const queue = store.queues.get(queueName);
    for (const { kind, names } of listsOf(spec)) {
      if (queue === undefined || queue.lists.has(listId(kind, names))) continue;
      for (const name of names) {
        const on = queue.users.get(name)?.lists.length ?? 0;
        if (on < LIMITS.listsPerUser) continue;
        throw new InvalidOptionError('assignedUsers', `users on at most ${on} lists`, name);
      }
    }
  }
}

function joinLists(store: Store, worker: WorkerEntry): void {
  const { spec } = worker;
  worker.offLists = false;
  for (const queueName of spec.queues) {
    const queue = store.queue(queueName);
    for (const { kind, names } of listsOf(spec)) {
      const id = listId(kind, names);
      const list = queue.lists.get(id) ?? makeList(store, queue, { id, kind, names });
      list.workers.add(spec.id);
    }
  }
}

function makeList(
  store: Store,
  queue: QueueEntry,
  { id, kind, names }: Pick<NameList, 'id' | 'kind' | 'names'>,
): NameList {
  const sorted = [...new Set(names)].sort(compareUtf8);
  const list = newList(queue, { id, kind, names: sorted, clock: queue.clock.v });
  let least: number | undefined;
  for (const name of list.names) {
    const user = store.userEntry(queue.queue, name);
    changeLists(store, user, [...user.lists, list]);
    if (user.ready) least = Math.min(least ?? startTag(user), startTag(user));
  }
  list.clock = least ?? queue.clock.v;
  return list;
}

function newList(
  queue: QueueEntry,
  facts: Pick<NameList, 'id' | 'kind' | 'names' | 'clock'>,
): NameList {
  const ready = new SortedList<UserEntry>(byFinish);
  const unassigned = new SortedList<UserEntry>(byFinish);
  const list: NameList = { ...facts, ready, unassigned, workers: new Set() };
  queue.lists.set(facts.id, list);
  return list;
}

/** A list of another store, as it was there. Its users are there, and stand as they did. */
export function putList(
  queue: QueueEntry,
  {
    workers,
    ...facts
  }: Pick<NameList, 'kind' | 'names' | 'clock'> & {
    readonly workers: readonly string[];
  },
): void {
  const list = newList(queue, { id: listId(facts.kind, facts.names), ...facts });
  for (const id of workers) list.workers.add(id);
  for (const name of list.names) {
    const user = queue.users.get(name);
    if (user === undefined) continue;
    if (user.ready) extract(user);
    user.lists = [...user.lists, list];
    if (user.ready) insert(user);
  }
}

/** Removes a worker from its lists, except for those of its next spec. */
function leaveLists(store: Store, workerId: string, next?: WorkerSpec): void {
  for (const queue of store.queues.values()) {
    const stays = next?.queues.includes(queue.queue) === true ? listsOf(next) : [];
    const kept = new Set(stays.map(({ kind, names }) => listId(kind, names)));
    for (const list of queue.lists.values()) {
      if (kept.has(list.id) || !list.workers.delete(workerId) || list.workers.size > 0) continue;
      queue.lists.delete(list.id);
      for (const name of list.names) {
        const user = queue.users.get(name);
        if (user !== undefined) {
          changeLists(
            store,
            user,
            user.lists.filter((other) => other !== list),
          );
        }
      }
    }
  }
}

function changeLists(store: Store, user: UserEntry, lists: NameList[]): void {
  if (user.ready) extract(user);
  user.lists = lists;
  if (user.ready) insert(user);
  reindex(store, user);
}

/** After the end of a queue's epoch, its lists restart at their least ready user. */
export function resetListClocks(queue: QueueEntry): void {
  for (const list of queue.lists.values()) {
    const first = list.ready.first();
    list.clock = first === undefined ? queue.clock.v : startTag(first);
  }
}
