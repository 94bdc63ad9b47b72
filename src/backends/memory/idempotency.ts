import type { EnqueueReply } from '../../domain/backend.ts';
import { LIMITS } from '../../domain/limits.ts';
import type { KeySpec, NewTask } from '../../domain/task.ts';
import { isEnd } from '../../domain/task.ts';
import type { KeyEntry, TaskEntry } from './entities.ts';
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
  const holds = entry.until !== undefined && store.now < entry.until;
  if ((over && !holds) || !store.records.has(entry.owner.id)) {
    store.keys.delete(entry.scope);
    return undefined;
  }
  return entry;
}

/** Whether the key keeps others out now. */
export function holds(store: Store, entry: KeyEntry): boolean {
  if (entry.until !== undefined) return store.now < entry.until;
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
  entry.key = made;
}

/** What a key that holds answers to another task; `undefined`: the task becomes its follower. */
export function answerByKey(key: KeyEntry, task: NewTask, spec: KeySpec): EnqueueReply | undefined {
  const { owner, follower } = key;
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
  target.firstPayload ??= target.payload;
  target.payload = task.payload;
  target.options = task.options;
}

/** The owner has ended: its follower inherits the key, or the key is free. */
export function releaseKey(store: Store, entry: TaskEntry): void {
  const key = entry.key;
  if (key === undefined) return;
  if (key.follower === entry) {
    key.follower = undefined;
    return;
  }
  if (key.owner !== entry) return;
  if (key.follower !== undefined) {
    key.owner = key.follower;
    key.follower = undefined;
    key.firstPayload = key.owner.firstPayload ?? key.owner.payload;
    return;
  }
  key.endedAt = store.now;
}

function existing(entry: TaskEntry, conflict: boolean, replaced: boolean): EnqueueReply {
  return { kind: 'existing', id: entry.id, state: entry.state, conflict, replaced };
}
