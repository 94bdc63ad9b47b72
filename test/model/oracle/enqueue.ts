/** How tasks come in. */
import type { EnqueueReply, LeaseRef } from '../../../src/domain/port/backend.ts';
import type { KeySpec, NewTask } from '../../../src/domain/task/task.ts';
import { answerers, type Call, cycleOf, refused } from './cycles.ts';
import { expireFirst } from './deadlines.ts';
import { applyEnd, enterLine, hold, policyOf, schedule, unhold } from './graph.ts';
import { holdsLease } from './runs.ts';
import { snapshotOf } from './snapshots.ts';
import { gatheredBy, gathers, windowFor } from './windows.ts';
import {
  ended,
  isBlocked,
  type Key,
  ofUser,
  queueOf,
  settingsOf,
  sourceOf,
  type Task,
  type World,
  waitersFor,
  waitersOf,
} from './world.ts';

/** Ids that a key answers for when they are sent again, and how long after its owner's end. */
const ABSORBED = 32;
const RESEND_MS = 60_000;

/** What never starts any more goes before anything is stored. */
export function buryExpired(
  world: World,
  items: readonly NewTask[],
  fence: LeaseRef | undefined,
): void {
  if (fence !== undefined && !holdsLease(world, fence)) return;
  const keys = items.map((item) =>
    item.idempotency === undefined ? undefined : world.keys.get(keyName(item, item.idempotency)),
  );
  const isLimited = items.some(
    ({ queue, user }) => settingsOf(world, queue, user).maxQueued !== undefined,
  );
  expireFirst(world, keys, isLimited && fence === undefined);
}

/** Each item on its own. */
export function enqueueEach(
  world: World,
  items: readonly NewTask[],
  fence?: LeaseRef,
): readonly EnqueueReply[] {
  if (fence !== undefined && !holdsLease(world, fence)) {
    world.happened.push('lease-lost');
    return items.map(() => refused({ type: 'lease-lost' }));
  }
  const fenced = fence !== undefined;
  const answered: Call['answered'] = new Map();
  return items.map((item) => {
    const call: Call = { batch: new Map(), answered, fenced, made: [] };
    const known = { ...item, dependsOn: answerers(item.dependsOn, call) };
    const reply = enqueueOne(world, known, call);
    place(world, call);
    return reply;
  });
}

/** All items or none; the world is spoilt when one was refused. */
export function enqueueAll(world: World, items: readonly NewTask[]): readonly EnqueueReply[] {
  const batch = new Map(items.map((item) => [item.id, item]));
  const call: Call = { batch, answered: new Map(), fenced: false, made: [] };
  const replies: EnqueueReply[] = [];
  for (const item of items) {
    const reply = enqueueOne(world, item, call);
    replies.push(reply);
    if (reply.kind === 'refused') return replies;
  }
  // Keys that answer for items may have turned edges within the batch: that is looked at last.
  for (const isTurned of call.answered.size === 0 ? [false] : [false, true]) {
    for (const [at, item] of items.entries()) {
      const isNew = replies[at]?.kind === 'created';
      const cycle = isNew ? cycleOf(world, item, call, isTurned) : undefined;
      if (cycle !== undefined) return [...replies.slice(0, at), cycle];
    }
  }
  place(world, call);
  return replies.map((reply) => {
    if (reply.kind !== 'existing') return reply;
    return { ...reply, state: world.tasks.get(reply.id)?.state ?? reply.state };
  });
}

function enqueueOne(world: World, item: NewTask, call: Call): EnqueueReply {
  const known =
    sameId(world, item) ??
    (item.idempotency === undefined ? undefined : sameKey(world, item, item.idempotency));
  if (known !== undefined) {
    if (known.kind !== 'existing') return known;
    const over = known.state === 'finished' && !world.tasks.has(known.id);
    if (over) call.answered.set(item.id, undefined);
    else if (known.id !== item.id) call.answered.set(item.id, known.id);
    return known;
  }
  const refusal =
    (call.fenced ? undefined : full(world, item)) ??
    noGraph(world, item) ??
    badDependency(world, item, call.batch);
  if (refusal !== undefined) return refusal;
  const cycle = call.batch.size === 0 ? cycleOf(world, item, call, false) : undefined;
  return cycle ?? create(world, item, call);
}

function sameId(world: World, item: NewTask): EnqueueReply | undefined {
  const task = world.tasks.get(item.id);
  if (task === undefined) return undefined;
  const same =
    task.user === item.user && task.name === item.name && task.firstPayload === item.payload;
  if (!same) return refused({ type: 'task-conflict', id: item.id });
  return { kind: 'existing', id: task.id, state: task.state, conflict: false, replaced: false };
}

function keyName(item: NewTask, spec: KeySpec): string {
  return JSON.stringify([item.queue, item.user, spec.key]);
}

function sameKey(world: World, item: NewTask, spec: KeySpec): EnqueueReply | undefined {
  const key = world.keys.get(keyName(item, spec));
  if (key === undefined) return undefined;
  if (key.gone !== undefined) return ofForgotten(world, item, key, spec);
  const owner = world.tasks.get(key.owner);
  if (owner === undefined) return undefined;
  const conflict = item.payload !== key.firstPayload;
  const answer = (task: Task, replaced: boolean): EnqueueReply => ({
    kind: 'existing',
    id: task.id,
    state: task.state,
    conflict,
    replaced,
  });
  const follower = key.follower === undefined ? undefined : world.tasks.get(key.follower);
  if (isRemembered(world, key) && key.absorbed.includes(item.id)) {
    const { id, state } = follower ?? owner;
    return { kind: 'existing', id, state, conflict: false, replaced: false };
  }
  if (!holds(world, key)) return undefined;
  if (gathers(spec)) {
    const reply = gatheredBy(world, item, { key, owner, spec });
    if (reply !== undefined) key.absorbed = [...key.absorbed, item.id].slice(-ABSORBED);
    return reply;
  }
  if (spec.policy === 'reject') {
    return refused({ type: 'key-taken', key: spec.key, id: owner.id });
  }
  const absorb = (): void => {
    key.absorbed = [...key.absorbed, item.id].slice(-ABSORBED);
  };
  const waits = !ended(owner) && owner.state !== 'started';
  if (spec.policy === 'return' || ended(owner)) {
    absorb();
    return answer(owner, false);
  }
  if (waits) {
    absorb();
    replace(owner, item);
    return answer(owner, true);
  }
  if (spec.policy === 'replace-queued') {
    absorb();
    return answer(owner, false);
  }
  if (follower === undefined) return undefined;
  absorb();
  replace(follower, item);
  return answer(follower, true);
}

/** A key whose owner is forgotten answers as if that had only ended, while its time lasts. */
function ofForgotten(
  world: World,
  item: NewTask,
  key: Key,
  spec: KeySpec,
): EnqueueReply | undefined {
  const { owner: id, gone } = key;
  if (gone === undefined || !holds(world, key)) return undefined;
  const absorbed = key.absorbed.includes(item.id);
  if (!absorbed && spec.policy === 'debounce') return undefined;
  if (!absorbed && spec.policy === 'throttle' && spec.trailing) return undefined;
  if (!absorbed && spec.policy === 'reject') {
    return refused({ type: 'key-taken', key: spec.key, id });
  }
  if (!absorbed) key.absorbed = [...key.absorbed, item.id].slice(-ABSORBED);
  return {
    kind: 'existing',
    id,
    state: world.tasks.get(id)?.state ?? gone,
    conflict: !absorbed && item.payload !== key.firstPayload,
    replaced: false,
  };
}

function holds(world: World, key: Key): boolean {
  return key.until === undefined ? key.endedAt === undefined : world.now < key.until;
}

/** A key answers resends of what it absorbed until a minute after its owner's end. */
function isRemembered(world: World, key: Key): boolean {
  return holds(world, key) || key.endedAt === undefined || world.now <= key.endedAt + RESEND_MS;
}

function replace(task: Task, item: NewTask): void {
  task.payload = item.payload;
  task.options = item.options;
}

function full(world: World, item: NewTask): EnqueueReply | undefined {
  if (followed(world, item) !== undefined) return undefined;
  const { maxQueued } = settingsOf(world, item.queue, item.user);
  const size = ofUser(world, item.queue, item.user).filter(
    (task) => !ended(task) && task.state !== 'started',
  ).length;
  if (maxQueued === undefined || size < maxQueued) return undefined;
  return refused({ type: 'queue-full', user: item.user, limit: maxQueued, size });
}

/** The started owner of its key that this item is to run after. */
function followed(world: World, item: NewTask): Task | undefined {
  if (item.idempotency?.policy !== 'run-once-more') return undefined;
  const key = world.keys.get(keyName(item, item.idempotency));
  if (key === undefined || key.gone !== undefined) return undefined;
  const owner = world.tasks.get(key.owner);
  return owner?.state === 'started' && holds(world, key) ? owner : undefined;
}

function noGraph(world: World, { graph }: NewTask): EnqueueReply | undefined {
  if (graph === undefined || snapshotOf(world, graph) !== undefined) return undefined;
  world.happened.push('graph-missing');
  return refused({ type: 'graph-missing', hash: graph });
}

function badDependency(
  world: World,
  item: NewTask,
  batch: Call['batch'],
): EnqueueReply | undefined {
  for (const dependency of new Set(item.dependsOn)) {
    const known = batch.get(dependency) ?? world.tasks.get(dependency);
    if (known === undefined && item.edges.onMissing === 'refuse') {
      return refused({ type: 'unknown-dependency', dependency });
    }
    if (known !== undefined && known.user !== item.user && !item.edges.allowCrossUser) {
      return refused({ type: 'cross-user', dependency });
    }
  }
  return undefined;
}

function create(world: World, item: NewTask, call: Call): EnqueueReply {
  const after = followed(world, item);
  const task = newTask(world, item, after);
  if (call.fenced && task.owner !== undefined) world.happened.push('member stored by its run');
  world.tasks.set(task.id, task);
  if (isAwaitedInVain(world, task.id)) world.happened.push('stored beside those it is not for');
  world.totals.enqueued += 1;
  queueOf(world, item.queue);
  const due = item.idempotency === undefined ? undefined : takeKey(world, item, item.idempotency);
  call.made.push({ task, item, after, due });
  return { kind: 'created', id: task.id };
}

/** Whether a task waits for the id that may not depend on a task of this user. */
function isAwaitedInVain(world: World, id: string): boolean {
  return waitersFor(world, id, undefined).length > waitersOf(world, id).length;
}

/** Links what is new to what it depends on, and puts it where it belongs, in the order given. */
function place(world: World, call: Call): void {
  for (const { task } of call.made) {
    for (const waiter of waitersOf(world, task.id)) unhold(waiter, task.id);
  }
  for (const { task, item, after, due: asked } of call.made) {
    const delayed = world.now + Math.max(0, item.delayMs ?? 0);
    const due = Math.max(world.now, asked ?? item.executeAfter ?? delayed);
    // Not `deferred` while it is linked, so that nothing sets it going before its time.
    task.state = 'scheduled';
    const ids = answerers(item.dependsOn, call).filter((id) => id !== task.id);
    // Also of one that ends at once: it may be redriven, and released then.
    if (item.expiresFrom === 'release') task.expiresInMs = item.expiresInMs;
    link(world, task, after === undefined ? ids : [...ids, after.id]);
    if (ended(task)) continue;
    if (item.expiresInMs !== undefined) {
      const isLater = item.expiresFrom === 'release' && isBlocked(task);
      if (!isLater) task.expiresAt = due + item.expiresInMs;
    }
    if (due > world.now) schedule(world, task, due);
    else enterLine(world, task);
  }
}

/** Gives the moment at which the key lets the task start, if it says one. */
function takeKey(world: World, item: NewTask, spec: KeySpec): number | undefined {
  const name = keyName(item, spec);
  const known = world.keys.get(name);
  const owner = known === undefined ? undefined : world.tasks.get(known.owner);
  if (gathers(spec)) {
    const opened = windowFor(world, known, spec);
    world.keys.set(name, {
      owner: item.id,
      firstPayload: item.payload,
      until: opened.until,
      began: opened.began,
      absorbed: known !== undefined && isRemembered(world, known) ? known.absorbed : [],
      follower: undefined,
      endedAt: undefined,
      gone: undefined,
    });
    return opened.due;
  }
  const inForce = known?.gone === undefined && owner?.state === 'started';
  if (known !== undefined && inForce && holds(world, known)) {
    known.follower = item.id;
    return undefined;
  }
  world.keys.set(name, {
    owner: item.id,
    firstPayload: item.payload,
    until: spec.ttlMs === undefined ? undefined : world.now + spec.ttlMs,
    began: undefined,
    absorbed: [],
    follower: undefined,
    endedAt: undefined,
    gone: undefined,
  });
  return undefined;
}

function link(world: World, task: Task, ids: readonly string[]): void {
  for (const id of new Set(ids)) {
    const known = sourceOf(world, task, id) !== undefined;
    task.edges.set(id, known ? 'unmet' : 'absent');
    if (!known && task.policies.onMissing !== 'satisfied') hold(world, task, id);
  }
  const sources = [...task.edges.keys()].map((id) => sourceOf(world, task, id));
  const over = sources.filter((source) => source !== undefined).filter(ended);
  const isLast = (source: Task): boolean => ['cancel', 'fail'].includes(policyOf(task, source));
  for (const source of over) if (!isLast(source)) applyEnd(world, task, source);
  // The first one that ends it does so when all others are linked, for a redrive to ask again.
  const last = over.find(isLast);
  if (last !== undefined) applyEnd(world, task, last);
}

function newTask(world: World, item: NewTask, after: Task | undefined): Task {
  return {
    id: item.id,
    name: item.name,
    queue: item.queue,
    user: item.user,
    level: item.level,
    cost: item.cost,
    payload: item.payload,
    firstPayload: item.payload,
    options: item.options,
    state: 'deferred',
    createdAt: world.now,
    failures: 0,
    losses: 0,
    releases: 0,
    parkedUntil: undefined,
    seq: undefined,
    dueAt: undefined,
    expiresAt: undefined,
    expiresInMs: undefined,
    waitUntil: undefined,
    lease: undefined,
    lastLease: undefined,
    tokenNumber: 0,
    pause: undefined,
    pausedBy: undefined,
    asideFor: undefined,
    settledBy: undefined,
    settledBefore: new Set(),
    cancelCause: undefined,
    endedAt: undefined,
    order: ++world.arrivals,
    endOrder: 0,
    cause: undefined,
    error: undefined,
    result: undefined,
    edges: new Map(),
    policies:
      after === undefined ? item.edges : { ...item.edges, onFailure: 'run', onCancel: 'run' },
    key: item.idempotency?.key,
    join: item.join === true,
    owner: item.owner,
    graph: item.graph,
    awaited: new Map(),
    wakeOn: 'all',
    attendedBy: undefined,
    decides: false,
    wakeAt: undefined,
    wait: undefined,
    waitsSince: 0,
    eventsBefore: 0,
    asks: new Map(),
    signals: [],
    signalIds: [],
    journal: new Map(),
    channels: undefined,
    newestWrites: undefined,
    chargedIn: undefined,
    charged: undefined,
    attempts: [],
  };
}
