/** How tasks move, end, and let others go on. */
import type { UpstreamFact } from '../../../src/domain/port/backend.ts';
import type { Cause } from '../../../src/domain/task/cause.ts';
import type { EdgePolicy } from '../../../src/domain/task/task.ts';
import { closeAsk } from './asks.ts';
import { eventPlaceOf, passEventOn } from './events.ts';
import { beginLine, levelLeft, refresh } from './fairness.ts';
import { touchGraph } from './snapshots.ts';
import { settleTime } from './timed.ts';
import {
  ended,
  inLine,
  isBlocked,
  type Key,
  note,
  personOf,
  queueOf,
  sourceOf,
  type Task,
  tasksWhere,
  type World,
  waitersOf,
} from './world.ts';

/** 30 days: how long a task waits for a dependency that ended badly or is missing. */
const WAIT_MS = 2_592_000_000;

export interface End {
  readonly state: 'finished' | 'failed' | 'canceled';
  readonly cause?: Cause;
  readonly error?: string;
  readonly result?: string;
}

/** Puts a task in its user's line: at its old place if it had one. */
export function queueUp(world: World, task: Task): void {
  leave(world, task);
  if (task.seq === undefined) {
    const person = personOf(queueOf(world, task.queue), task.user);
    person.seq += 1;
    task.seq = person.seq;
  }
  beginLine(world, task.queue, task.user);
  task.state = 'queued';
  refresh(world, task.queue, task.user);
}

export function schedule(world: World, task: Task, dueAt: number): void {
  const counted = task.state === 'queued' || task.state === 'started';
  leave(world, task);
  task.state = 'scheduled';
  task.dueAt = dueAt;
  if (counted) refresh(world, task.queue, task.user);
  else touch(world, task);
}

function defer(world: World, task: Task): void {
  const started = task.state === 'started';
  leave(world, task);
  task.state = 'deferred';
  if (started) refresh(world, task.queue, task.user);
  else touch(world, task);
}

/** Its user has one task more or less that waits for something else: that starts none. */
function touch(world: World, task: Task): void {
  personOf(queueOf(world, task.queue), task.user);
  world.touched.add(JSON.stringify([task.queue, task.user]));
}

/** Queued, or deferred while something blocks it; a join that nothing blocks has ended. */
export function enterLine(world: World, task: Task): void {
  if (isBlocked(task)) defer(world, task);
  else if (task.join) joined(world, task);
  else queueUp(world, task);
}

/** Its time to start begins now, if it was stored so. */
export function released(world: World, task: Task): void {
  if (task.expiresInMs === undefined || isBlocked(task)) return;
  task.expiresAt = world.now + task.expiresInMs;
  world.happened.push('time to start began with a release');
}

function joined(world: World, task: Task): void {
  leave(world, task);
  task.state = 'deferred';
  if ((task.expiresAt ?? Number.POSITIVE_INFINITY) <= world.now) {
    note(world, task, 'gaveUp');
    end(world, task, { state: 'failed', cause: { type: 'expired' } });
    return;
  }
  note(world, task, 'joined');
  end(world, task, { state: 'finished', result: 'null' });
}

/** Takes a task out of the state it is in. */
function leave(world: World, task: Task): void {
  if (inLine(task)) levelLeft(world, task);
  task.parkedUntil = undefined;
  task.dueAt = undefined;
  if (task.state === 'started') settleTime(world, task);
  task.lease = undefined;
}

export function end(world: World, task: Task, how: End): void {
  leave(world, task);
  task.state = how.state;
  task.endedAt = world.now;
  task.endOrder = ++world.endings;
  task.cause = how.cause;
  task.error = how.error ?? task.error;
  task.result = how.result;
  task.expiresAt = undefined;
  task.waitUntil = undefined;
  task.wakeAt = undefined;
  task.attendedBy = undefined;
  leavePause(task);
  leaveWait(world, task);
  for (const [id, edge] of task.awaited) if (edge === 'unmet') task.awaited.delete(id);
  task.cancelCause = undefined;
  world.totals[how.state] += 1;
  if (isDeadLetter(task)) world.totals.deadLetters += 1;
  releaseKey(world, task);
  world.cascade.push(task);
  refresh(world, task.queue, task.user);
}

/** It failed by itself, and not since another did not finish. */
export function isDeadLetter({ state, cause }: Task): boolean {
  const follows = cause?.type === 'upstream' || (cause !== undefined && 'task' in cause);
  return state === 'failed' && !(follows && cause?.type !== 'unknown-here');
}

function releaseKey(world: World, task: Task): void {
  for (const key of world.keys.values()) {
    if (key.follower === task.id) key.follower = undefined;
    if (key.owner !== task.id || key.gone !== undefined) continue;
    passOn(world, key);
  }
}

/** A follower takes the key over; without one it is free, unless it holds for a time. */
function passOn(world: World, key: Key): void {
  if (key.follower === undefined) {
    key.endedAt = world.now;
    return;
  }
  key.owner = key.follower;
  key.firstPayload = world.tasks.get(key.owner)?.firstPayload ?? '';
  key.follower = undefined;
}

/** Looks at everybody who waits for a task that has ended. */
export function runCascade(world: World): void {
  for (let source = oldest(world); source !== undefined; source = oldest(world)) {
    world.cascade.splice(world.cascade.indexOf(source), 1);
    for (const waiter of waitersOf(world, source.id)) applyEnd(world, waiter, source);
    if (source.state !== 'failed') endAside(world, source.id);
  }
}

/** Of those whose dependents have not heard yet, who ended first. */
function oldest(world: World): Task | undefined {
  return world.cascade.sort((one, other) => one.endOrder - other.endOrder)[0];
}

/** What became of each task that a task depends on. */
export function upstreamsOf(world: World, task: Task): readonly UpstreamFact[] {
  return [...task.edges].map(([id, edge]) => {
    const source = edge === 'absent' ? undefined : sourceOf(world, task, id);
    const name = source?.name ?? '';
    if (source === undefined || !ended(source)) return { id, name, state: 'missing', cut: false };
    const { state, result, error } = source;
    return {
      id,
      name,
      state,
      cut: false,
      ...(result !== undefined && { result }),
      ...(error !== undefined && { error }),
    };
  });
}

export function policyOf(waiter: Task, source: Task): EdgePolicy {
  if (source.state === 'finished') return 'run';
  return source.state === 'failed' ? waiter.policies.onFailure : waiter.policies.onCancel;
}

/** What the end of a dependency means for one who waits for it. */
export function applyEnd(world: World, waiter: Task, source: Task): void {
  if (waiter.awaited.get(source.id) === 'unmet') {
    awaitedEnded(world, waiter, source);
    return;
  }
  const policy = policyOf(waiter, source);
  if (policy === 'run') {
    satisfy(world, waiter, source.id);
  } else if (policy === 'wait') {
    hold(world, waiter, source.id);
  } else {
    const state = source.state === 'failed' ? 'failed' : 'canceled';
    endByPolicy(world, waiter, policy, { type: 'upstream', id: source.id, state });
  }
}

function awaitedEnded(world: World, run: Task, source: Task): void {
  run.awaited.set(source.id, 'met');
  const isReason = source.state !== 'finished' && run.wakeOn === 'failure';
  if (!isReason && isBlocked(run)) return;
  world.happened.push(isReason ? 'woken by a failure' : 'woken when all had ended');
  wake(world, run);
}

/** Its handler has ended, and says what becomes of it. */
export function callBack(world: World, run: Task): void {
  dropWaits(world, run);
  run.attendedBy = undefined;
}

function dropWaits(world: World, run: Task): void {
  for (const [id, edge] of run.awaited) if (edge === 'unmet') run.awaited.delete(id);
  run.wakeAt = undefined;
  leaveWait(world, run);
}

/** A suspended run goes on; it waits for no task any more, and reads those that have ended. */
export function wake(world: World, run: Task): void {
  dropWaits(world, run);
  if (run.state === 'deferred') note(world, run, 'unblocked');
  enterLine(world, run);
}

/** A question that it waited for is closed, unless it was answered; an event goes to the next. */
function leaveWait(world: World, task: Task): void {
  const how = task.state === 'canceled' ? 'canceled' : 'ended';
  if (task.wait?.for.kind === 'ask') closeAsk(task, { how, at: world.now }, undefined);
  const place = eventPlaceOf(task);
  task.wait = undefined;
  if (place !== undefined) passEventOn(world, place);
}

function satisfy(world: World, waiter: Task, id: string): void {
  waiter.edges.set(id, 'met');
  const joins = waiter.join && waiter.state === 'deferred';
  if (!isBlocked(waiter) && !ended(waiter) && !joins) note(world, waiter, 'unblocked');
  if (!isStuck(waiter)) waiter.waitUntil = undefined;
  if (waiter.state !== 'deferred' || isBlocked(waiter)) return;
  released(world, waiter);
  enterLine(world, waiter);
}

export function hold(world: World, waiter: Task, id: string): void {
  waiter.edges.set(id, 'stuck');
  waiter.waitUntil ??= world.now + WAIT_MS;
}

/** It may end by itself again, so the wait for it has no limit. */
export function unhold(waiter: Task, id: string): void {
  if (waiter.edges.get(id) !== 'stuck') return;
  waiter.edges.set(id, 'unmet');
  if (!isStuck(waiter)) waiter.waitUntil = undefined;
}

function isStuck(task: Task): boolean {
  return [...task.edges.values()].includes('stuck');
}

function endByPolicy(world: World, waiter: Task, policy: 'cancel' | 'fail', cause: Cause): void {
  note(world, waiter, policy === 'cancel' ? 'canceled' : 'gaveUp');
  end(world, waiter, { state: policy === 'cancel' ? 'canceled' : 'failed', cause });
}

/** Removes every trace of an ended task; who still waits for it is canceled. */
export function forget(world: World, task: Task): void {
  const waiters = waitersOf(world, task.id);
  endAside(world, task.id);
  world.tasks.delete(task.id);
  if (task.graph !== undefined) touchGraph(world, task.graph);
  for (const [name, key] of world.keys) {
    if (key.owner !== task.id || key.gone !== undefined) continue;
    const holds = key.until !== undefined && world.now < key.until;
    if (holds && ended(task)) key.gone = task.state;
    else world.keys.delete(name);
  }
  for (const waiter of waiters) {
    const cause: Cause = { type: 'upstream', id: task.id, state: 'removed' };
    note(world, waiter, 'canceled');
    end(world, waiter, { state: 'canceled', cause });
  }
}

/** Whom the pause of a run has set aside, by arrival. */
export function asideOf(world: World, run: string): Task[] {
  return tasksWhere(world, (task) => task.asideFor === run).sort((a, b) => a.order - b.order);
}

/** Those that its pause has set aside have nothing left to be started for. */
function endAside(world: World, run: string): void {
  for (const task of asideOf(world, run)) {
    note(world, task, 'canceled');
    end(world, task, { state: 'canceled', cause: { type: 'run-ended', run } });
    world.happened.push('canceled with the run that had set it aside');
  }
}

/** A task that ends is held by no run; one that can be put back stays paused. */
function leavePause(task: Task): void {
  task.asideFor = undefined;
  if (task.state !== 'failed') task.pause = undefined;
}
