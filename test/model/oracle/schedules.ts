/** Schedules: who stands at which slot, and what a firing comes to. */
import type {
  DueReply,
  DueRequest,
  EventSource,
  EventStart,
  FireOutcome,
  FireReply,
  FireRequest,
  Firing,
  ScheduleChange,
  ScheduleRecord,
  ScheduleSetReply,
} from '../../../src/domain/port/backend.ts';
import type { NewTask } from '../../../src/domain/task/task.ts';
import { cancelTask } from './control.ts';
import { enqueueEach } from './enqueue.ts';
import { snapshotOf, touchGraph } from './snapshots.ts';
import { byBytes, ended, type Schedule, type World } from './world.ts';

/** A scheduler that said nothing for this long is replaced … */
const LOCK_MS = 5_000;
/** … and at once, when a slot is so late. */
const OVERDUE_MS = 2_000;
/** A scheduler looks again so long after what is due was not fired. */
const RETRY_MS = 1_000;

/** Those that stand at a slot, the earliest moment first. */
function status(world: World): readonly Schedule[] {
  return [...world.schedules.values()]
    .filter(({ next }) => next !== undefined)
    .sort((one, other) => momentOf(one) - momentOf(other) || byBytes(one.id, other.id));
}

function momentOf({ next }: Schedule): number {
  return next?.dueAt ?? Number.POSITIVE_INFINITY;
}

function earliest(world: World): number {
  const [first] = status(world);
  return first === undefined ? Number.POSITIVE_INFINITY : momentOf(first);
}

/** Whether anything is due. */
export function areDue(world: World): boolean {
  return earliest(world) <= world.now;
}

/** How long the longest due one has been so. */
export function lag(world: World): number {
  return Math.max(0, world.now - earliest(world));
}

/** When a scheduler has to look, if ever. */
export function lookAt(world: World): number | undefined {
  const moment = earliest(world);
  if (moment <= world.now) return world.now + RETRY_MS;
  return Number.isFinite(moment) ? moment : undefined;
}

function recordOf(schedule: Schedule): ScheduleRecord {
  const { active: _active, ...record } = schedule;
  // Absent and undefined are equal here.
  return record as ScheduleRecord;
}

/** By name. */
export function all(world: World): readonly ScheduleRecord[] {
  return [...world.schedules.values()]
    .sort((one, other) => byBytes(one.id, other.id))
    .map(recordOf);
}

export function set(world: World, change: ScheduleChange): ScheduleSetReply {
  const { id, revision, spec, paused, overlap, limit, graph, next, on, passed } = change;
  const known = world.schedules.get(id);
  const isBehind = next !== undefined && next.slot <= (known?.settledSlot ?? -1);
  if ((known?.revision ?? 0) !== revision || isBehind) {
    world.happened.push(isBehind ? 'slot behind a decided one' : 'schedule changed by others');
    return { kind: 'changed' };
  }
  if (passed !== undefined && passed.at !== known?.next?.slot) {
    world.happened.push('schedule had moved on');
    return { kind: 'changed' };
  }
  if (graph !== undefined && snapshotOf(world, graph) === undefined) {
    return { kind: 'graph-missing' };
  }
  const before = earliest(world);
  const schedule: Schedule = {
    ...{ id, revision: revision + 1, spec, paused, overlap, limit, graph, on },
    next: isOver(known?.fired ?? 0, limit) ? undefined : next,
    createdAt: known?.createdAt ?? world.now,
    updatedAt: world.now,
    fired: known?.fired ?? 0,
    missed: (known?.missed ?? 0) + (passed?.slots ?? 0),
    overlapped: known?.overlapped ?? 0,
    settledSlot: known?.settledSlot,
    last: known?.last,
    active: known?.active ?? [],
  };
  world.schedules.set(id, schedule);
  if (known?.graph !== undefined && known.graph !== graph) touchGraph(world, known.graph);
  // Who has the lock sleeps until the moment that was the first one before.
  if (momentOf(schedule) < before) world.scheduler.until = 0;
  return { kind: 'ok', record: recordOf(schedule) };
}

/** Those that fire at events of this user and name, by their own names. */
export function firingAt(world: World, user: string, event: string): readonly Schedule[] {
  return [...world.schedules.values()]
    .filter(({ on, paused }) => !paused && on?.user === user && on.event === event)
    .sort((one, other) => byBytes(one.id, other.id));
}

/** What a publisher is told who knows others than those that fire. */
export function unknownAt(
  world: World,
  { user, event }: EventSource,
  starts: readonly EventStart[],
): readonly ScheduleRecord[] | undefined {
  const firing = firingAt(world, user, event);
  const isKnown = firing.every(({ id, revision }) =>
    starts.some((start) => start.schedule === id && start.revision === revision),
  );
  return isKnown && firing.length === starts.length ? undefined : firing.map(recordOf);
}

/** An event has made it start a task. */
export function noteStart(world: World, id: string, task: string): void {
  const schedule = world.schedules.get(id);
  if (schedule === undefined) return;
  schedule.fired += 1;
  schedule.last = { slot: world.now, id: task };
}

export function remove(world: World, id: string): boolean {
  const known = world.schedules.get(id);
  if (known === undefined) return false;
  world.schedules.delete(id);
  if (known.graph !== undefined) touchGraph(world, known.graph);
  return true;
}

export function due(world: World, { owner, limit }: DueRequest): DueReply {
  const { scheduler, now } = world;
  const others = scheduler.owner !== undefined && scheduler.owner !== owner;
  const isLate = earliest(world) <= now - OVERDUE_MS;
  // A lock of before the clock went back ends later than any that is taken now.
  if (others && now < scheduler.until && scheduler.until <= now + LOCK_MS) {
    world.happened.push(isLate ? 'overdue slot taken' : 'schedules held');
    if (!isLate) return { kind: 'locked', until: scheduler.until, now };
  }
  const inOrder = status(world);
  if (inOrder.length === 0) {
    return { kind: 'granted', fence: scheduler.fence, schedules: [], now };
  }
  if (scheduler.owner !== owner) scheduler.fence += 1;
  scheduler.owner = owner;
  scheduler.until = now + LOCK_MS;
  const told = inOrder.filter((schedule) => momentOf(schedule) <= now).slice(0, limit);
  const following = inOrder[told.length];
  return {
    kind: 'granted',
    fence: scheduler.fence,
    schedules: told.map(recordOf),
    ...(following === undefined ? {} : { nextDueAt: momentOf(following) }),
    now,
  };
}

export function leave(world: World, owner: string): void {
  if (world.scheduler.owner === owner) world.scheduler.until = 0;
}

export function fire(world: World, request: FireRequest): FireReply {
  const { id, revision, slot, fence, firings, passed, next, catchUp = false } = request;
  const schedule = world.schedules.get(id);
  if (schedule?.next?.slot !== slot || schedule.revision !== revision) {
    world.happened.push('schedule had moved on');
    return { kind: 'stale' };
  }
  if (fence < world.scheduler.fence) {
    world.happened.push('scheduler superseded');
    return { kind: 'superseded' };
  }
  const outcomes = firings.map((firing) => fireOne(world, schedule, { ...firing, catchUp }));
  schedule.missed += passed;
  schedule.settledSlot = firings.at(-1)?.slot ?? slot;
  schedule.next = isOver(schedule.fired, schedule.limit) ? undefined : next;
  return { kind: 'fired', outcomes };
}

function isOver(fired: number, limit: number | undefined): boolean {
  return limit !== undefined && fired >= limit;
}

/** A firing of a request that catches up, or not. */
type Shot = Firing & { readonly catchUp: boolean };

function fireOne(world: World, schedule: Schedule, shot: Shot): FireOutcome {
  const outcome = outcomeOf(world, schedule, shot);
  world.happened.push(`firing ${outcome.kind}`);
  if (outcome.kind === 'overlap') schedule.overlapped += 1;
  if (outcome.kind === 'refused') schedule.missed += 1;
  return outcome;
}

function outcomeOf(world: World, schedule: Schedule, shot: Shot): FireOutcome {
  const { slot, task, catchUp } = shot;
  if (isOver(schedule.fired, schedule.limit)) return { kind: 'over' };
  const alive = (): string[] => schedule.active.filter((id) => isAlive(world, id));
  const before = alive();
  const [first] = before;
  const allowed = { skip: 1, 'queue-one': 2, allow: undefined, 'cancel-previous': undefined };
  const policy = catchUp ? 'allow' : schedule.overlap;
  const most = allowed[policy];
  if (first !== undefined && most !== undefined && before.length >= most) {
    return { kind: 'overlap', id: first };
  }
  const overtakes = policy === 'cancel-previous';
  if (overtakes) {
    for (const id of before) {
      cancelTask(world, id, { type: 'schedule', schedule: schedule.id, slot });
      world.happened.push('firing canceled another');
    }
  }
  const left = policy === 'allow' && !catchUp ? [] : alive();
  const own = left.filter((id) => world.tasks.get(id)?.user === task.user);
  const behind = catchUp ? own.slice(-1) : own;
  if (own.length < left.length) world.happened.push('firing passes by another user');
  if (behind.length > 0) world.happened.push('firing waits for another');
  const [reply] = enqueueEach(world, [behind.length === 0 ? task : after(task, behind)]);
  if (reply?.kind === 'existing') return { kind: 'existing', id: reply.id };
  if (reply?.kind === 'refused') {
    // The task of this slot was there before, with its own input.
    if (reply.refusal.type === 'task-conflict') return { kind: 'existing', id: task.id };
    return { kind: 'refused', refusal: reply.refusal };
  }
  schedule.fired += 1;
  schedule.last = { slot, id: task.id };
  schedule.active = [...left, task.id];
  return { kind: 'created', canceled: overtakes ? before : [] };
}

function isAlive(world: World, id: string): boolean {
  const task = world.tasks.get(id);
  return task !== undefined && !ended(task);
}

function after(task: NewTask, ids: readonly string[]): NewTask {
  const edges = { onFailure: 'run', onCancel: 'run', onMissing: 'satisfied' } as const;
  return { ...task, dependsOn: ids, edges: { ...edges, allowCrossUser: false } };
}
