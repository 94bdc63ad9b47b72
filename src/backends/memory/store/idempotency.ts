import { LIMITS } from '../../../domain/limits.ts';
import type { EnqueueReply } from '../../../domain/port/backend.ts';
import type { KeySpec, NewTask, TaskState } from '../../../domain/task/task.ts';
import { isEnd } from '../../../domain/task/task.ts';
import {
  type OwnerState,
  openWindow,
  type WindowSpec,
  type WindowStep,
  windowStep,
} from '../../../domain/task/window.ts';
import { type GoneOwner, type KeyEntry, TaskEntry } from './entities.ts';
import { isFirstPayload } from './first-payload.ts';
import type { Store } from './store.ts';

/** Stored form of a key: queue and user with their lengths, so that different places have different texts. */
export function keyScope(task: Pick<NewTask, 'queue' | 'user'>, key: string): string {
  return `${task.queue.length}:${task.queue}${task.user.length}:${task.user}${key}`;
}

/** Place of the key of a scope. */
export function placeOfKey({ scope }: KeyEntry): {
  readonly queue: string;
  readonly user: string;
} {
  const [queue, rest] = cut(scope);
  const [user] = cut(rest);
  return { queue, user };
}

/** Splits a text that is preceded by its length from the rest. */
function cut(text: string): readonly [string, string] {
  const from = text.indexOf(':') + 1;
  const to = from + Number(text.slice(0, from - 1));
  return [text.slice(from, to), text.slice(to)];
}

/** The stored key, also when it has ended. */
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

/** Whether the key holds now. */
export function holds(store: Store, entry: KeyEntry): boolean {
  if (entry.until !== undefined) return holdsByTime(store, entry);
  // Not by the owner's state: a redrive does not restore the key.
  return entry.endedAt === undefined;
}

/** Gives the key to a new owner; answers its due time if the key sets it. */
export function takeKey(
  store: Store,
  task: NewTask,
  spec: KeySpec,
  entry: TaskEntry,
): number | undefined {
  const scope = keyScope(task, spec.key);
  const before = rememberedKey(store, task);
  const opened = isWindow(spec) ? newWindow(store, before, spec) : undefined;
  const made: KeyEntry = {
    key: spec.key,
    scope,
    owner: entry,
    follower: undefined,
    firstPayload: task.payload,
    until: isWindow(spec) ? opened?.window.until : untilOf(spec, store.now),
    from: opened?.window.from,
    // A repeated call that an earlier owner has answered is no new call.
    absorbed: opened === undefined ? [] : [...(before?.absorbed ?? [])],
    endedAt: undefined,
  };
  if (before !== undefined) forget(store, before);
  store.keys.set(scope, made);
  entry.own().key = made;
  return opened?.dueAt;
}

function untilOf({ ttlMs }: { readonly ttlMs?: number }, now: number): number | undefined {
  return ttlMs === undefined ? undefined : now + ttlMs;
}

/** Whether a key collects calls. */
export function isWindow(spec: KeySpec): spec is KeySpec & WindowSpec {
  return spec.policy === 'debounce' || spec.policy === 'throttle';
}

function newWindow(
  store: Store,
  before: KeyEntry | undefined,
  spec: WindowSpec,
): WindowStep & { readonly kind: 'new' } {
  const step =
    before !== undefined && holds(store, before) ? stepOf(store, before, spec) : undefined;
  return step?.kind === 'new' ? step : openWindow(spec, store.now);
}

function stepOf(store: Store, key: KeyEntry, spec: WindowSpec): WindowStep {
  const { from = store.now, until = store.now } = key;
  return windowStep(spec, { from, until }, ownerStateOf(key.owner), store.now);
}

function ownerStateOf(owner: TaskEntry | GoneOwner): OwnerState {
  if (!(owner instanceof TaskEntry) || owner.grant !== undefined || isEnd(owner.state)) {
    return 'begun';
  }
  return owner.state === 'scheduled' ? 'scheduled' : 'waiting';
}

/**
 * The answer of a held key to another task; `undefined`: the task becomes its follower, or the next
 * owner of a key that collects calls.
 */
export function answerByKey(
  store: Store,
  key: KeyEntry,
  task: NewTask,
  spec: KeySpec,
): EnqueueReply | undefined {
  const { owner, follower } = key;
  const existing = (known: TaskEntry | GoneOwner, conflict: boolean, replaced: boolean) =>
    existingOf(store, known, { conflict, replaced });
  const conflict = !isFirstPayload(key.firstPayload, task.payload);
  const started = owner.state === 'started' || isEnd(owner.state);
  switch (spec.policy) {
    case 'debounce':
    case 'throttle': {
      const { kind } = stepOf(store, key, spec);
      return kind === 'new' ? undefined : existing(owner, conflict, kind === 'replace');
    }
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

/**
 * Stores the id of an answered call, and replaces the input if the answer says so. Answers the new
 * start of the task, if it moves.
 */
export function absorb(
  store: Store,
  key: KeyEntry,
  task: NewTask,
  reply: EnqueueReply,
): number | undefined {
  if (reply.kind !== 'existing') return undefined;
  if (!key.absorbed.includes(task.id)) key.absorbed.push(task.id);
  if (key.absorbed.length > LIMITS.absorbed) key.absorbed.shift();
  if (!reply.replaced) return undefined;
  const target = key.follower?.id === reply.id ? key.follower : key.owner;
  if (!(target instanceof TaskEntry)) return undefined;
  const spec = task.idempotency;
  const step = spec !== undefined && isWindow(spec) ? stepOf(store, key, spec) : undefined;
  target.replaceInput(task);
  return step?.kind === 'replace' ? step.dueAt : undefined;
}

/** At the owner's end its follower inherits the key, or the key is free. */
export function releaseKey(store: Store, entry: TaskEntry): void {
  const key = entry.optional.key;
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
    key.firstPayload = follower.optional.firstPayload ?? follower.payload;
    return;
  }
  key.endedAt = store.now;
}

/** The key is removed with its owner's record, unless it has its own end. */
export function leaveKey(store: Store, entry: TaskEntry): void {
  const { state } = entry;
  const { key } = entry.optional;
  if (key?.owner !== entry || store.keys.get(key.scope) !== key) return;
  if (isEnd(state) && holdsByTime(store, key)) {
    key.owner = { id: entry.id, state };
    store.goneKeys.add(key);
  } else {
    forget(store, key);
  }
}

/** Removes keys without an owner whose time has passed, so that they do not pile up. */
export function forgetKeys(store: Store, most: number): void {
  for (let i = 0; i < most; i++) {
    const key = store.goneKeys.first();
    if (key === undefined || holdsByTime(store, key)) return;
    forget(store, key);
  }
}

/** Another task may have got its id since its record was removed. */
function stateOf(store: Store, { id, state }: TaskEntry | GoneOwner): TaskState {
  return store.records.get(id)?.state ?? state;
}

/** The answer with an existing task. */
export function existingOf(
  store: Store,
  known: TaskEntry | GoneOwner,
  how: { readonly conflict: boolean; readonly replaced: boolean },
): EnqueueReply {
  return { kind: 'existing', id: known.id, state: stateOf(store, known), ...how };
}
