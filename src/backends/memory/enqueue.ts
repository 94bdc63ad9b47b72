import { LIMITS } from '../../domain/limits.ts';
import { type Answered, resolved } from '../../domain/port/answered.ts';
import type { BatchOptions, EnqueueRefusal, EnqueueReply } from '../../domain/port/backend.ts';
import type { NewTask } from '../../domain/task/task.ts';
import { isEnd } from '../../domain/task/task.ts';
import { waitingState } from '../../domain/task/transition.ts';
import { blockedByCycle, cycleByKeys } from './rules/cycles.ts';
import { type Batch, checkDependencies, link, rewait } from './rules/dependencies.ts';
import { cascade, endIfExpired, enterLine } from './rules/end.ts';
import { enterScheduled, leave, setDeadline, stateAfter } from './rules/places.ts';
import { type KeyEntry, TaskEntry } from './store/entities.ts';
import { isFirstPayload } from './store/first-payload.ts';
import {
  absorb,
  answerByKey,
  existingOf,
  holds,
  isWindow,
  keyScope,
  rememberedKey,
  takeKey,
} from './store/idempotency.ts';
import { hasSnapshot, holdSnapshot } from './store/snapshots.ts';
import type { Store } from './store/store.ts';
import { expire, isAnyOverdue } from './tick.ts';

/** Stores tasks; all or none if `atomic`. See `TaskStore.enqueue`. */
export function enqueue(
  store: Store,
  tasks: readonly NewTask[],
  { atomic, fence }: BatchOptions,
): readonly EnqueueReply[] {
  if (fence !== undefined && store.records.get(fence.id)?.token !== fence.token) {
    return tasks.map(() => ({ kind: 'refused', refusal: { type: 'lease-lost' } }));
  }
  store.isFenced = fence !== undefined;
  if (isAnyOverdue(store)) expireFirst(store, tasks);
  const replies = atomic ? enqueueAll(store, tasks) : enqueueEach(store, tasks);
  cascade(store, LIMITS.cascadeStep);
  return replies;
}

/** Expired tasks must not hold keys or count in limits. */
function expireFirst(store: Store, tasks: readonly NewTask[]): void {
  for (const task of tasks) {
    const scope = task.idempotency && keyScope(task, task.idempotency.key);
    const key = scope === undefined ? undefined : store.keys.get(scope);
    while ([key?.owner, key?.follower].some((entry) => endIfExpired(store, entry)));
  }
  if (!store.isFenced && tasks.some((task) => limitOf(store, task) !== undefined)) expire(store);
}

function enqueueEach(store: Store, tasks: readonly NewTask[]): readonly EnqueueReply[] {
  const answered: Answered = new Map();
  return tasks.map((task) => {
    const dependsOn = resolved(task.id, task.dependsOn, answered);
    const reply = enqueueOne(store, dependsOn === task.dependsOn ? task : { ...task, dependsOn });
    noteAnswer(store, answered, task.id, reply);
    return reply;
  });
}

function noteAnswer(store: Store, answered: Answered, id: string, reply: EnqueueReply): void {
  if (reply.kind !== 'existing') return;
  const isOver = reply.state === 'finished' && !store.records.has(reply.id);
  if (isOver || reply.id !== id) answered.set(id, isOver ? undefined : reply.id);
}

/** Stores one task on its own; does not notify waiters of tasks that this ended. */
export function enqueueOne(store: Store, task: NewTask): EnqueueReply {
  const known = answerKnown(store, task);
  if (known !== undefined) return known;
  const refusal = refuseNew(store, task, undefined) ?? blockedByCycle(store, task, undefined);
  if (refusal !== undefined) return { kind: 'refused', refusal };
  const entry = create(store, task);
  settleIn(store, entry, task);
  return { kind: 'created', id: task.id };
}

/**
 * Stores all or none, and does not notify waiters of tasks that this ended. Checks all first, then
 * creates every record, then links all, since edges may point forward.
 */
export function enqueueAll(store: Store, tasks: readonly NewTask[]): readonly EnqueueReply[] {
  const batch: Batch = {
    tasks: firstById(tasks),
    keys: new Map(),
    waiting: new Map(),
    answered: new Map(),
  };
  for (const check of [refuse, blockedByCycle]) {
    for (const [index, task] of tasks.entries()) {
      const refusal = check(store, task, batch);
      if (refusal !== undefined) return refuseBatch(tasks, index, refusal);
    }
  }
  const cycle = cycleByKeys(store, tasks, batch);
  if (cycle !== undefined) return refuseBatch(tasks, placeOf(tasks, cycle), cycle);
  const answered: Answered = new Map();
  const made: { readonly task: NewTask; readonly entry: TaskEntry }[] = [];
  const replies = tasks.map((task): EnqueueReply => {
    const known = answerKnown(store, task);
    if (known !== undefined) {
      noteAnswer(store, answered, task.id, known);
      return known;
    }
    made.push({ task, entry: create(store, task) });
    return { kind: 'created', id: task.id };
  });
  for (const { task, entry } of made) {
    entry.dependsOn = resolved(task.id, entry.dependsOn, answered);
    settleIn(store, entry, task);
  }
  return replies.map((reply) => presentState(store, reply));
}

/** Of tasks with one id the first is stored; the others have to equal it. */
function firstById(tasks: readonly NewTask[]): ReadonlyMap<string, NewTask> {
  const byId = new Map<string, NewTask>();
  for (const task of tasks) if (!byId.has(task.id)) byId.set(task.id, task);
  return byId;
}

function refuseBatch(
  tasks: readonly NewTask[],
  index: number,
  refusal: EnqueueRefusal,
): readonly EnqueueReply[] {
  const others: EnqueueReply = { kind: 'refused', refusal: { type: 'batch-refused' } };
  return tasks.map((_, i) => (i === index ? { kind: 'refused', refusal } : others));
}

/** The task that is refused for a cycle through several: the first of them. */
function placeOf(tasks: readonly NewTask[], refusal: EnqueueRefusal): number {
  const path = new Set(refusal.type === 'cycle' ? refusal.path : []);
  return tasks.findIndex(({ id }) => path.has(id));
}

/** A task answered by another one of its batch gets the present state of that one. */
function presentState(store: Store, reply: EnqueueReply): EnqueueReply {
  if (reply.kind !== 'existing') return reply;
  return { ...reply, state: store.records.get(reply.id)?.state ?? reply.state };
}

/** The answer for a known id or key; nothing is stored. */
function answerKnown(store: Store, task: NewTask): EnqueueReply | undefined {
  const same = store.records.get(task.id);
  if (same !== undefined) {
    if (!agrees(same, task)) {
      return { kind: 'refused', refusal: { type: 'task-conflict', id: task.id } };
    }
    const state = same.state;
    return { kind: 'existing', id: task.id, state, conflict: false, replaced: false };
  }
  const key = rememberedKey(store, task);
  if (key === undefined || task.idempotency === undefined) return undefined;
  if (key.absorbed.includes(task.id)) {
    return existingOf(store, key.follower ?? key.owner, { conflict: false, replaced: false });
  }
  if (!holds(store, key)) return undefined;
  const reply = answerByKey(store, key, task, task.idempotency);
  if (reply === undefined) return undefined;
  const dueAt = absorb(store, key, task, reply);
  return dueAt === undefined ? reply : moved(store, key.owner, dueAt, reply);
}

/** Another call has moved the start of a waiting task. */
function moved(
  store: Store,
  entry: KeyEntry['owner'],
  dueAt: number,
  reply: EnqueueReply,
): EnqueueReply {
  if (!(entry instanceof TaskEntry) || entry.dueAt === undefined) return reply;
  if (entry.optional.expiresAt !== undefined) {
    entry.own().expiresAt = entry.optional.expiresAt + dueAt - entry.dueAt;
    setDeadline(store, entry);
  }
  const next = stateAfter(entry, 'due');
  leave(store, entry);
  if (dueAt > store.now) enterScheduled(store, entry, dueAt);
  else enterLine(store, entry, next);
  return presentState(store, reply);
}

function agrees(entry: TaskEntry, task: NewTask): boolean {
  return (
    entry.owner.user === task.user &&
    entry.name === task.name &&
    isFirstPayload(entry.optional.firstPayload ?? entry.payload, task.payload)
  );
}

/** Why a task cannot be stored; includes the effects of earlier tasks of its batch. */
function refuse(store: Store, task: NewTask, batch: Batch | undefined): EnqueueRefusal | undefined {
  const same = store.records.get(task.id);
  if (same !== undefined) {
    return agrees(same, task) ? undefined : { type: 'task-conflict', id: task.id };
  }
  const twin = batch?.tasks.get(task.id);
  if (twin !== undefined && twin !== task) {
    const equal =
      twin.user === task.user && twin.name === task.name && twin.payload === task.payload;
    return equal ? undefined : { type: 'task-conflict', id: task.id };
  }
  return refuseNew(store, task, batch);
}

/** The same for a task with a new id. */
function refuseNew(
  store: Store,
  task: NewTask,
  batch: Batch | undefined,
): EnqueueRefusal | undefined {
  const byKey = refuseByKey(store, task, batch);
  if (byKey !== 'new' && byKey !== 'follows') return byKey;
  // A follower represents calls that were accepted already.
  const full = byKey === 'new' && !store.isFenced ? refuseByLimit(store, task, batch) : undefined;
  if (full !== undefined) return full;
  if (task.graph !== undefined && !hasSnapshot(store, task.graph)) {
    return { type: 'graph-missing', hash: task.graph };
  }
  return checkDependencies(store, task, batch?.tasks);
}

/** `new` or `follows` if the key admits the task; `undefined` if it answers with another. */
function refuseByKey(
  store: Store,
  task: NewTask,
  batch: Batch | undefined,
): EnqueueRefusal | 'new' | 'follows' | undefined {
  const spec = task.idempotency;
  if (spec === undefined) return 'new';
  const scope = keyScope(task, spec.key);
  const holder = batch?.keys.get(scope);
  if (holder !== undefined) {
    if (spec.policy === 'reject') return { type: 'key-taken', key: spec.key, id: holder.owner };
    const runsOnce = spec.policy === 'run-once-more';
    batch?.answered.set(task.id, (runsOnce ? holder.follower : undefined) ?? holder.owner);
    return undefined;
  }
  const key = rememberedKey(store, task);
  if (key !== undefined) {
    if (key.absorbed.includes(task.id)) {
      batch?.answered.set(task.id, (key.follower ?? key.owner).id);
      return undefined;
    }
    if (holds(store, key)) {
      const reply = answerByKey(store, key, task, spec);
      if (reply?.kind === 'refused') return reply.refusal;
      if (reply === undefined && isWindow(spec)) return 'new';
      if (reply === undefined) {
        batch?.keys.set(scope, { owner: key.owner.id, follower: task.id });
        return 'follows';
      }
      batch?.answered.set(task.id, reply.id);
      return undefined;
    }
  }
  batch?.keys.set(scope, { owner: task.id });
  return 'new';
}

function refuseByLimit(
  store: Store,
  task: NewTask,
  batch: Batch | undefined,
): EnqueueRefusal | undefined {
  const limit = limitOf(store, task);
  if (limit === undefined) return undefined;
  const user = store.queues.get(task.queue)?.users.get(task.user);
  const scope = `${task.queue.length}:${task.queue}${task.user}`;
  const before = batch?.waiting.get(scope) ?? 0;
  const size = (user === undefined ? 0 : user.live - user.running) + before;
  if (size >= limit) return { type: 'queue-full', user: task.user, limit, size };
  batch?.waiting.set(scope, before + 1);
  return undefined;
}

function limitOf(store: Store, task: NewTask): number | undefined {
  const queue = store.queue(task.queue);
  const own = queue.ownSettings.size === 0 ? undefined : queue.ownSettings.get(task.user);
  const all = store.settingsForAll.size === 0 ? undefined : store.settingsForAll.get(task.user);
  return own?.maxQueued ?? all?.maxQueued ?? queue.settings.perUser?.maxQueued;
}

/** Creates the record, in no index yet. */
function create(store: Store, task: NewTask): TaskEntry {
  const owner = store.userEntry(task.queue, task.user);
  const key = followedKey(store, task);
  const follows = key?.owner;
  const spec: NewTask =
    follows === undefined
      ? task
      : {
          ...task,
          dependsOn: [...new Set([...task.dependsOn, follows.id])],
          edges: { ...task.edges, onFailure: 'run', onCancel: 'run' },
        };
  const entry = new TaskEntry(spec, owner, store.now, ++store.arrivals);
  store.records.set(task.id, entry);
  owner.live++;
  owner.queue.totals.enqueued++;
  joinRun(store, entry, task);
  if (key !== undefined && follows !== undefined) {
    key.follower = entry;
    entry.own().key = key;
  } else if (task.idempotency !== undefined) {
    entry.dueAt = takeKey(store, task, task.idempotency, entry);
  }
  const waiters = store.missing.take(task.id, task.user);
  if (waiters !== undefined) {
    entry.own().waiting = waiters;
    for (const waiter of waiters) rewait(store, waiter);
  }
  return entry;
}

/** The key after whose owner the task runs. */
function followedKey(store: Store, task: NewTask): KeyEntry | undefined {
  if (task.idempotency === undefined || isWindow(task.idempotency)) return undefined;
  const key = rememberedKey(store, task);
  return key !== undefined && holds(store, key) ? key : undefined;
}

/** Stores the task's relation to a workflow, if there is one. */
function joinRun(store: Store, entry: TaskEntry, { join, owner, graph }: NewTask): void {
  if (join === undefined && owner === undefined && graph === undefined) return;
  entry.own().run = { ...entry.ownRun(), isJoin: join === true, owner, graph };
  if (graph !== undefined) holdSnapshot(store, graph, entry.id);
}

/** Links the dependencies and adds the entry to its index. */
function settleIn(store: Store, entry: TaskEntry, task: NewTask): void {
  const { now } = store;
  const due = entry.dueAt ?? task.executeAfter ?? now + Math.max(0, task.delayMs ?? 0);
  entry.dueAt = undefined;
  const ending = link(store, entry);
  if (task.expiresInMs !== undefined) {
    if (task.expiresFrom === 'release') entry.own().expiresInMs = task.expiresInMs;
    if (task.expiresFrom === undefined || entry.optional.blocked === undefined) {
      entry.own().expiresAt = Math.max(now, due) + task.expiresInMs;
      setDeadline(store, entry);
    }
  }
  if (due > now) enterScheduled(store, entry, due);
  else enterLine(store, entry, waitingState(entry));
  ending?.();
}

/** Whether a cascade has not finished with an entry. */
export function isBusy(entry: TaskEntry): boolean {
  return (
    isEnd(entry.state) && (entry.optional.cascadeAt !== undefined || entry.optional.readers > 0)
  );
}
