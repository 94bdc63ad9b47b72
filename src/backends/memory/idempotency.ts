import type { EnqueueReply } from '../../domain/backend.ts';
import { LIMITS } from '../../domain/limits.ts';
import type { KeySpec, NewTask, TaskState } from '../../domain/task.ts';
import { isEnd } from '../../domain/task.ts';
import { type GoneOwner, type KeyEntry, TaskEntry } from './entities.ts';
import type { Store } from './store.ts';

export function keyScope(task: NewTask, key: string): string {
  return `${task.queue.length}:${task.queue}${task.user.length}:${task.user}${key}`;
}

/** The key as it is remembered, also when it no longer holds. */
export function rememberedKey(store: Store, task: NewTask): KeyEntry | undefined {
  if (task.idempotency === undefined) return undefined;
  const entry = store.keys.get(keyScope(task, task.idempotency.key));
  if (entry === undefined) return undefined;
  const over = entry.endedAt !== undefined && store.now > entry.endedAt + LIMITS.resendMs;
  const gone = !(entry.owner instanceof TaskEntry);
  if (!(over || gone) || holdsByTime(store, entry)) return entry;
  forget(store, entry);
  return undefined;
}

function holdsByTime(store: Store, entry: KeyEntry): boolean {
  return entry.until !== undefined && store.now < entry.until;
}

function forget(store: Store, entry: KeyEntry): void {
  store.keys.delete(entry.scope);
  store.goneKeys.delete(entry);
}

/** Whether the key keeps others out now. */
export function holds(store: Store, entry: KeyEntry): boolean {
  if (entry.until !== undefined) return holdsByTime(store, entry);
  // Not by the owner's state: a redrive does not take the key back.
  return entry.endedAt === undefined;
}

export function takeKey(store: Store, task: NewTask, spec: KeySpec, entry: TaskEntry): void {
  const scope = keyScope(task, spec.key);
  const until = spec.ttlMs === undefined ? undefined : store.now + spec.ttlMs;
  const made: KeyEntry = {
    key: spec.key,
    scope,
    owner: entry,
    follower: undefined,
    firstPayload: task.payload,
    until,
    absorbed: [],
    endedAt: undefined,
  };
  store.keys.set(scope, made);
  entry.own().key = made;
}

/** What a key that holds answers to another task; `undefined`: the task becomes its follower. */
export function answerByKey(
  store: Store,
  key: KeyEntry,
  task: NewTask,
  spec: KeySpec,
): EnqueueReply | undefined {
  const { owner, follower } = key;
  const existing = (known: TaskEntry | GoneOwner, conflict: boolean, replaced: boolean) =>
    existingOf(store, known, { conflict, replaced });
  const conflict = task.payload !== key.firstPayload;
  const started = owner.state === 'started' || isEnd(owner.state);
  switch (spec.policy) {
    case 'reject':
      return { kind: 'refused', refusal: { type: 'key-taken', key: key.key, id: owner.id } };
    case 'return':
      return existing(owner, conflict, false);
    case 'replace-queued':
      return started ? existing(owner, conflict, false) : existing(owner, conflict, true);
    case 'run-once-more':
      if (!started) return existing(owner, conflict, true);
      if (owner.state !== 'started') return existing(owner, conflict, false);
      return follower === undefined ? undefined : existing(follower, conflict, true);
  }
}

/** Remembers the id of a call that the key answered, and swaps the input where the answer says so. */
export function absorb(key: KeyEntry, task: NewTask, reply: EnqueueReply): void {
  if (reply.kind !== 'existing') return;
  if (!key.absorbed.includes(task.id)) key.absorbed.push(task.id);
  if (key.absorbed.length > LIMITS.absorbed) key.absorbed.shift();
  if (!reply.replaced) return;
  const target = key.follower?.id === reply.id ? key.follower : key.owner;
  if (!(target instanceof TaskEntry)) return;
  target.own().firstPayload ??= target.payload;
  target.payload = task.payload;
  target.options = task.options;
}

/** The owner has ended: its follower inherits the key, or the key is free. */
export function releaseKey(store: Store, entry: TaskEntry): void {
  const key = entry.rare.key;
  if (key === undefined) return;
  if (key.follower === entry) {
    key.follower = undefined;
    return;
  }
  if (key.owner !== entry) return;
  if (key.follower !== undefined) {
    const { follower } = key;
    key.owner = follower;
    key.follower = undefined;
    key.firstPayload = follower.rare.firstPayload ?? follower.payload;
    return;
  }
  key.endedAt = store.now;
}

/** The record of this owner is removed: its key goes too, unless it holds for a time. */
export function leaveKey(store: Store, entry: TaskEntry): void {
  const { state } = entry;
  const { key } = entry.rare;
  if (key?.owner !== entry || store.keys.get(key.scope) !== key) return;
  if (isEnd(state) && holdsByTime(store, key)) {
    key.owner = { id: entry.id, state };
    store.goneKeys.add(key);
  } else {
    forget(store, key);
  }
}

/** Forgets keys whose owners are gone and whose time is over, so that they do not pile up. */
export function forgetKeys(store: Store, most: number): void {
  for (let i = 0; i < most; i++) {
    const key = store.goneKeys.first();
    if (key === undefined || holdsByTime(store, key)) return;
    forget(store, key);
  }
}

/** Its id may have been given to another task since its record was removed. */
function stateOf(store: Store, { id, state }: TaskEntry | GoneOwner): TaskState {
  return store.records.get(id)?.state ?? state;
}

/** The answer that a task was there before. */
export function existingOf(
  store: Store,
  known: TaskEntry | GoneOwner,
  how: { readonly conflict: boolean; readonly replaced: boolean },
): EnqueueReply {
  return { kind: 'existing', id: known.id, state: stateOf(store, known), ...how };
}
