/** What runs do beyond other tasks: wait for others, write down what they did, own members, and are paused. */
import type {
  ChangeReply,
  CheckpointReply,
  LeaseRef,
  NodeWrites,
  PauseReply,
  Suspension,
} from '../../../src/domain/port/backend.ts';
import type { ChannelRefusal, ChannelWrites } from '../../../src/domain/task/channel.ts';
import { openAsk } from './asks.ts';
import * as channels from './channels.ts';
import { beginEventWait, recentEvent } from './events.ts';
import { levelLeft, refresh } from './fairness.ts';
import { asideOf, enterLine, queueUp, wake } from './graph.ts';
import { answer, takeKept } from './waits.ts';
import { ended, inLine, isBlocked, note, type Task, type World } from './world.ts';

/** The lease is in force, or its handler waits and no other was given since. */
export function speaks(world: World, { id, token }: LeaseRef): boolean {
  const task = world.tasks.get(id);
  if (task === undefined || task.lastLease?.token !== token) return false;
  return task.lease?.token === token || (task.attendedBy === token && task.asideFor === undefined);
}

/** The lease that a call names is the one in force. */
export function holdsLease(world: World, { id, token }: LeaseRef): boolean {
  return world.tasks.get(id)?.lease?.token === token;
}

export function suspend(world: World, run: Task, suspension: Suspension): void {
  const { waitFor, wakeOn, wakeAfterMs, wait, attended } = suspension;
  run.awaited = new Map();
  let anyFailed = false;
  for (const id of waitFor) {
    const other = world.tasks.get(id);
    if (other === undefined) continue;
    run.awaited.set(id, ended(other) ? 'met' : 'unmet');
    if (ended(other) && other.state !== 'finished') anyFailed = true;
  }
  run.wakeOn = wakeOn;
  run.attendedBy = attended === true ? run.lastLease?.token : undefined;
  run.wakeAt = wakeAfterMs === undefined ? undefined : world.now + wakeAfterMs;
  run.losses = 0;
  run.wait = wait;
  run.waitsSince = world.now;
  beginEventWait(world, run);
  if (wait?.for.kind === 'ask') openAsk(world, run, wait.for.ask);
  const kept = takeKept(world, run);
  if (kept !== undefined) {
    world.happened.push('woken by a signal that was kept');
    answer(world, run, { by: 'signal', payload: kept.payload });
    return;
  }
  const recent = recentEvent(world, run);
  if (recent !== undefined) {
    world.happened.push('woken by an event of before');
    answer(world, run, { by: 'event', payload: recent });
    return;
  }
  const isReason = anyFailed && wakeOn === 'failure';
  if (isBlocked(run) && !isReason) {
    enterLine(world, run);
    return;
  }
  world.happened.push('suspended by none that was left');
  wake(world, run);
}

export interface Checkpoint {
  readonly entries: Readonly<Record<string, string | null>>;
  readonly channel?: NodeWrites | undefined;
}

export function checkpoint(
  world: World,
  lease: LeaseRef,
  { entries, channel }: Checkpoint,
): CheckpointReply {
  const run = world.tasks.get(lease.id);
  if (run === undefined || !speaks(world, lease)) return 'lost';
  if (run.cancelCause !== undefined) {
    world.happened.push('checkpoint after a cancel');
    return 'canceling';
  }
  const refusal = channel && channels.writeNode(world, lease, channel);
  if (refusal !== undefined) return refusal;
  for (const [field, value] of Object.entries(entries)) {
    if (value === null) run.journal.delete(field);
    else run.journal.set(field, value);
  }
  run.losses = 0;
  if (pauserOf(world, run) === undefined) return 'ok';
  world.happened.push('checkpoint of one that is paused');
  return 'paused';
}

export function writeChannel(
  world: World,
  lease: LeaseRef,
  channel: ChannelWrites,
): 'ok' | 'lost' | ChannelRefusal {
  if (!speaks(world, lease)) return 'lost';
  return channels.write(world, channel) ?? 'ok';
}

/** What failed before is to be done again. */
export function countRedrive({ journal }: Task): void {
  if (journal.size > 0) journal.set('redrives', String(Number(journal.get('redrives') ?? 0) + 1));
}

export function journalOf(world: World, id: string): Readonly<Record<string, string>> {
  return Object.fromEntries(world.tasks.get(id)?.journal ?? []);
}

/** Owners are looked up so far: they may be a circle. */
const DEPTH = 100;

/** Its run has ended, or is not there, or has itself nothing to be started for: neither has it. */
export function isAbandoned(world: World, task: Task): boolean {
  let one = task;
  for (let depth = 0; depth < DEPTH && one.owner !== undefined; depth += 1) {
    const run = world.tasks.get(one.owner);
    if (run === undefined || ended(run)) return true;
    one = run;
  }
  return false;
}

/** The run whose pause keeps a task from its start: its own, or one further up. */
export function pauserOf(world: World, task: Task): Task | undefined {
  let one: Task | undefined = task;
  for (let depth = 0; depth < DEPTH && one !== undefined; depth += 1) {
    if (one.pause !== undefined) return one;
    const above: string | undefined = one.pausedBy ?? one.owner;
    one = above === undefined ? undefined : world.tasks.get(above);
  }
  return undefined;
}

export function setAside(world: World, task: Task, run: Task): void {
  note(world, task, 'paused');
  if (inLine(task)) levelLeft(world, task);
  task.parkedUntil = undefined;
  task.state = 'deferred';
  task.asideFor = run.id;
  if (run !== task) world.happened.push('set aside for its run');
  refresh(world, task.queue, task.user);
}

function setAsideNow(world: World, task: Task): void {
  const run = task.state === 'queued' ? pauserOf(world, task) : undefined;
  if (run !== undefined && !task.decides) setAside(world, task, run);
}

export function pause(world: World, id: string, reason: string | undefined): PauseReply {
  const task = world.tasks.get(id);
  if (task === undefined) return { kind: 'not-found' };
  if (ended(task)) return { kind: 'wrong-state', state: task.state };
  task.pause ??= { since: world.now, ...(reason === undefined ? {} : { reason }) };
  setAsideNow(world, task);
  return { kind: 'ok', pause: task.pause };
}

export function pausePart(world: World, id: string, run: string): ChangeReply {
  const task = world.tasks.get(id);
  if (task === undefined || isOver(task)) return refusalOf(task);
  task.pausedBy = run;
  setAsideNow(world, task);
  return { kind: 'ok', state: task.state };
}

export function resume(world: World, id: string): ChangeReply {
  const task = world.tasks.get(id);
  if (task === undefined || isOver(task)) return refusalOf(task);
  task.pause = undefined;
  for (const one of asideOf(world, id)) {
    note(world, one, 'resumed');
    one.asideFor = undefined;
    queueUp(world, one);
  }
  return { kind: 'ok', state: task.state };
}

function isOver({ state }: Task): boolean {
  return state === 'finished' || state === 'canceled';
}

function refusalOf(task: Task | undefined): ChangeReply {
  return task === undefined ? { kind: 'not-found' } : { kind: 'wrong-state', state: task.state };
}
