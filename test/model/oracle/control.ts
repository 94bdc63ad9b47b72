/** What people and workers ask for beside the life of tasks. */

import type { QueuePatch, UserPatch } from '../../../src/domain/fairness/settings.ts';
import type {
  CancelReply,
  ChangeReply,
  EditedTask,
  WorkerSpec,
} from '../../../src/domain/port/backend.ts';
import type { Cause } from '../../../src/domain/task/cause.ts';
import { closesBack } from './cycles.ts';
import { refresh } from './fairness.ts';
import { end, enterLine, forget, hold, released, unhold } from './graph.ts';
import { dropLists, joinLists } from './membership.ts';
import { countRedrive } from './runs.ts';
import { recount } from './timed.ts';
import { wakeByTime } from './waits.ts';
import {
  blocks,
  byBytes,
  ended,
  note,
  queueOf,
  readersOf,
  sourceOf,
  type Task,
  type Worker,
  type World,
  waitersOf,
} from './world.ts';

/** A worker that said nothing for this long is forgotten, when another one comes. */
const GONE_MS = 3_600_000;

export function cancelTask(world: World, id: string, cause: Cause): CancelReply {
  const task = world.tasks.get(id);
  if (task === undefined) return { kind: 'not-found' };
  if (ended(task)) return { kind: 'already-ended', state: task.state };
  if (task.lease !== undefined) {
    note(world, task, 'cancelRequested');
    task.cancelCause ??= cause;
    return { kind: 'requested', worker: task.lease.worker };
  }
  note(world, task, 'canceled');
  end(world, task, { state: 'canceled', cause });
  return { kind: 'canceled' };
}

export function redriveTask(world: World, id: string, edited: EditedTask | undefined): ChangeReply {
  const task = world.tasks.get(id);
  if (task === undefined) return { kind: 'not-found' };
  if (task.state !== 'failed') return { kind: 'wrong-state', state: task.state };
  const cycle = closesBack(world, task);
  if (cycle !== undefined) return cycle;
  note(world, task, 'redriven');
  if (edited !== undefined) {
    task.payload = edited.payload;
    task.options = edited.options;
    world.happened.push('redriven with another input');
  }
  task.failures = 0;
  task.losses = 0;
  task.releases = 0;
  task.seq = undefined;
  task.endedAt = undefined;
  task.cause = undefined;
  task.error = undefined;
  countRedrive(task);
  // From here on it is alive again: those that it kept waiting wait for its end once more.
  task.state = 'deferred';
  for (const [dependency, edge] of task.edges) {
    if (blocks(edge)) lookAgain(world, task, dependency);
  }
  for (const waiter of waitersOf(world, id)) unhold(waiter, id);
  released(world, task);
  enterLine(world, task);
  return { kind: 'ok', state: task.state };
}

/** A redrive asks again how each dependency stands. */
function lookAgain(world: World, task: Task, dependency: string): void {
  const source = sourceOf(world, task, dependency);
  if (source !== undefined && !ended(source)) task.edges.set(dependency, 'unmet');
  else if (source?.state === 'finished') task.edges.set(dependency, 'met');
  else hold(world, task, dependency);
}

export function removeTask(world: World, id: string): ChangeReply {
  const task = world.tasks.get(id);
  if (task === undefined) return { kind: 'not-found' };
  if (!ended(task)) return { kind: 'wrong-state', state: task.state };
  if (readersOf(world, id).length > 0) return { kind: 'busy' };
  forget(world, task);
  return { kind: 'ok' };
}

export function runTaskNow(world: World, id: string): ChangeReply {
  const task = world.tasks.get(id);
  if (task === undefined) return { kind: 'not-found' };
  if (task.wait?.for.kind === 'time') {
    world.happened.push('sleep ended early');
    wakeByTime(world, task);
    return { kind: 'ok', state: task.state };
  }
  if (task.state !== 'scheduled') return { kind: 'wrong-state', state: task.state };
  note(world, task, 'due');
  enterLine(world, task);
  return { kind: 'ok', state: task.state };
}

export function setUser(
  world: World,
  user: string,
  { patch, queue: queueName }: { readonly patch: UserPatch; readonly queue: string | undefined },
): void {
  const place = queueName === undefined ? world.everywhere : world.own;
  const key = queueName === undefined ? user : JSON.stringify([queueName, user]);
  const settings = patched(place.get(key) ?? {}, patch);
  if (Object.keys(settings).length > 0) place.set(key, settings);
  else place.delete(key);
  for (const queue of world.queues.values()) {
    const concerned = queueName === undefined || queueName === queue.queue;
    if (concerned && queue.people.has(user)) refresh(world, queue.queue, user);
  }
}

export function setQueue(world: World, queueName: string, patch: QueuePatch): void {
  const queue = queueOf(world, queueName);
  const before = queue.settings.charge === 'time';
  queue.settings = patched(queue.settings, patch);
  const recounts = before !== (queue.settings.charge === 'time');
  if (recounts) recount(queue);
  if ('perUser' in patch || recounts)
    for (const user of [...queue.people.keys()].sort(byBytes)) refresh(world, queueName, user);
}

/** `null` takes a field away. */
function patched<T extends object>(before: T, patch: { readonly [K in keyof T]?: T[K] | null }): T {
  const after = Object.entries({ ...before, ...patch }).filter(
    ([, value]) => value !== null && value !== undefined,
  );
  return Object.fromEntries(after) as T;
}

export function registerWorker(world: World, spec: WorkerSpec, starts: boolean): void {
  const known = world.workers.get(spec.id);
  const same = starts ? undefined : known;
  const worker: Worker = {
    id: spec.id,
    queues: spec.queues,
    names: spec.names,
    assigned: spec.assignedUsers,
    steal: spec.stealTargets,
    startedAt: same?.startedAt ?? world.now,
    attempts: same?.attempts ?? { succeeded: 0, failed: 0, lost: 0 },
    seenAt: world.now,
    listed: false,
    request: known?.request ?? { id: '', leases: [] },
  };
  world.workers.set(spec.id, worker);
  welcome(world, worker);
  // Behind an outage those that live may not have spoken yet.
  const isPaused = world.now < world.sweepAfter;
  for (const { id, seenAt } of isPaused ? [] : [...world.workers.values()]) {
    if (world.now - seenAt > GONE_MS) world.workers.delete(id);
  }
  dropLists(world);
}

export function unregisterWorker(world: World, id: string): void {
  for (const name of world.workers.get(id)?.names ?? []) world.announced.set(name, world.now);
  world.workers.delete(id);
  dropLists(world);
}

/** A worker lives; but one that was too silent does only when it asks for work again. */
export function hear(world: World, worker: Worker): void {
  if (worker.listed) worker.seenAt = world.now;
}

/** A worker comes, or comes back. */
export function welcome(world: World, worker: Worker): void {
  worker.seenAt = world.now;
  if (!worker.listed) joinLists(world, worker);
}
