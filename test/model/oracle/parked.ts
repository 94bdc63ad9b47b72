/** Queued tasks that stand in no line, since a worker came to them that does not know their names. */
import { beginLine, levelLeft, readyPeople, refresh } from './fairness.ts';
import { isRestricted, rosterOf } from './rosters.ts';
import {
  inLine,
  type QueueEntry,
  settingsOf,
  type Task,
  tasksWhere,
  type Worker,
  type World,
} from './world.ts';

const UNKNOWN_MS = 3_600_000;

/** Takes the head of a line out of it. */
export function park(world: World, task: Task): void {
  levelLeft(world, task);
  task.parkedUntil = world.now + UNKNOWN_MS;
  const queue = world.queues.get(task.queue);
  const key = keyOf(task);
  if (queue !== undefined && !queue.rotation.has(key)) turnOf(queue, key);
  world.happened.push('parked');
  refresh(world, task.queue, task.user);
}

/** It goes to the end of the rotation. */
function turnOf(queue: QueueEntry, key: string): void {
  queue.rotations += 1;
  queue.rotation.set(key, queue.rotations);
}

function keyOf({ name, level, user }: Task): string {
  return JSON.stringify([name, level, user]);
}

function parkedIn(world: World, queue: QueueEntry, key: string): Task[] {
  return tasksWhere(
    world,
    (task) => task.queue === queue.queue && task.parkedUntil !== undefined && keyOf(task) === key,
  ).sort((one, other) => (one.seq ?? 0) - (other.seq ?? 0));
}

/** Those of which nothing is parked any more have no turn. */
export function forgetTurns(world: World): void {
  for (const queue of world.queues.values()) {
    for (const key of [...queue.rotation.keys()]) {
      if (parkedIn(world, queue, key).length === 0) queue.rotation.delete(key);
    }
  }
}

/** As many as a worker has slots for, user by user, of the names that it knows; true when some are left. */
export function bringBack(world: World, queue: QueueEntry, worker: Worker, slots: number): Back {
  const brought = new Map<Task, number>();
  let slotsLeft = slots;
  let turns = [...queue.rotation]
    .sort((one, other) => one[1] - other[1])
    .map(([key]) => key)
    .filter((key) => mayTake(queue, worker, JSON.parse(key)));
  while (slotsLeft > 0 && turns.length > 0) {
    const again: string[] = [];
    for (const key of turns) {
      if (slotsLeft > 0) slotsLeft -= visit(world, { queue, key, slotsLeft, brought });
      if (parkedIn(world, queue, key).length > 0) again.push(key);
    }
    turns = again;
  }
  return { left: turns.length > 0, brought };
}

/** What was brought back for a lease, with its deadline before; whether there is more. */
export interface Back {
  readonly left: boolean;
  readonly brought: ReadonlyMap<Task, number>;
}

/** Who was not served, though its user might be, is parked as before. */
export function parkLeft(world: World, back: readonly Back[]): void {
  for (const [task, until] of back.flatMap(({ brought }) => [...brought])) {
    const queue = world.queues.get(task.queue);
    const person = queue?.people.get(task.user);
    if (!inLine(task) || queue === undefined || !readyPeople(queue).some((one) => one === person)) {
      continue;
    }
    levelLeft(world, task);
    task.parkedUntil = until;
    world.happened.push('parked again');
    refresh(world, task.queue, task.user);
  }
  forgetTurns(world);
}

interface Visit {
  readonly queue: QueueEntry;
  readonly key: string;
  readonly slotsLeft: number;
  readonly brought: Map<Task, number>;
}

function visit(world: World, { queue, key, slotsLeft, brought }: Visit): number {
  const [, , user]: [string, number, string] = JSON.parse(key);
  const weight = settingsOf(world, queue.queue, user).weight ?? 100;
  const all = parkedIn(world, queue, key);
  const back = all.slice(0, Math.min(slotsLeft, Math.ceil(weight / 100)));
  beginLine(world, queue.queue, user);
  for (const task of back) {
    brought.set(task, task.parkedUntil ?? 0);
    task.parkedUntil = undefined;
  }
  world.happened.push('brought back');
  refresh(world, queue.queue, user);
  turnOf(queue, key);
  return back.length;
}

function mayTake(
  queue: QueueEntry,
  worker: Worker,
  [name, , user]: readonly [string, number, string],
): boolean {
  if (!worker.names.includes(name)) return false;
  if (!isRestricted(worker) || worker.steal === 'any') return true;
  return (['a', 's'] as const).some(
    (kind) => rosterOf(queue, worker, kind)?.list.names.has(user) === true,
  );
}

/** When a worker that knows this name was heard last, if that was within the last hour. */
export function knownAt(world: World, name: string): number | undefined {
  const heard = [...world.workers.values()]
    .filter(({ names }) => names.includes(name))
    .map(({ seenAt }) => seenAt);
  const latest = Math.max(0, world.announced.get(name) ?? 0, ...heard);
  return latest > world.now - UNKNOWN_MS ? latest : undefined;
}
