/** Queued tasks that stand in no line, since a worker came to them that does not know their names. */
import { levelLeft, readyPeople, refresh } from './fairness.ts';
import { isRestricted, rosterOf } from './rosters.ts';
import {
  inLine,
  type Lane,
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
  const lane = world.lanes.get(task.queue);
  const key = keyOf(task);
  if (lane !== undefined && !lane.rotation.has(key)) turnOf(lane, key);
  world.happened.push('parked');
  refresh(world, task.queue, task.user);
}

/** It goes to the end of the rotation. */
function turnOf(lane: Lane, key: string): void {
  lane.rotations += 1;
  lane.rotation.set(key, lane.rotations);
}

function keyOf({ name, level, user }: Task): string {
  return JSON.stringify([name, level, user]);
}

function parkedIn(world: World, lane: Lane, key: string): Task[] {
  return tasksWhere(
    world,
    (task) => task.queue === lane.queue && task.parkedUntil !== undefined && keyOf(task) === key,
  ).sort((one, other) => (one.seq ?? 0) - (other.seq ?? 0));
}

/** Those of which nothing is parked any more have no turn. */
export function forgetTurns(world: World): void {
  for (const lane of world.lanes.values()) {
    for (const key of [...lane.rotation.keys()]) {
      if (parkedIn(world, lane, key).length === 0) lane.rotation.delete(key);
    }
  }
}

/** As many as a worker has slots for, user by user, of the names that it knows; true when some are left. */
export function bringBack(world: World, lane: Lane, worker: Worker, slots: number): Back {
  const brought = new Map<Task, number>();
  let room = slots;
  let turns = [...lane.rotation]
    .sort((one, other) => one[1] - other[1])
    .map(([key]) => key)
    .filter((key) => mayTake(lane, worker, JSON.parse(key)));
  while (room > 0 && turns.length > 0) {
    const again: string[] = [];
    for (const key of turns) {
      if (room > 0) room -= visit(world, { lane, key, room, brought });
      if (parkedIn(world, lane, key).length > 0) again.push(key);
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
    const lane = world.lanes.get(task.queue);
    const person = lane?.people.get(task.user);
    if (!inLine(task) || lane === undefined || !readyPeople(lane).some((one) => one === person)) {
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
  readonly lane: Lane;
  readonly key: string;
  readonly room: number;
  readonly brought: Map<Task, number>;
}

function visit(world: World, { lane, key, room, brought }: Visit): number {
  const [, , user]: [string, number, string] = JSON.parse(key);
  const weight = settingsOf(world, lane.queue, user).weight ?? 100;
  const all = parkedIn(world, lane, key);
  const back = all.slice(0, Math.min(room, Math.ceil(weight / 100)));
  for (const task of back) {
    brought.set(task, task.parkedUntil ?? 0);
    task.parkedUntil = undefined;
  }
  world.happened.push('brought back');
  refresh(world, lane.queue, user);
  turnOf(lane, key);
  return back.length;
}

function mayTake(
  lane: Lane,
  worker: Worker,
  [name, , user]: readonly [string, number, string],
): boolean {
  if (!worker.names.includes(name)) return false;
  if (!isRestricted(worker) || worker.steal === 'any') return true;
  return (['a', 's'] as const).some(
    (kind) => rosterOf(lane, worker, kind)?.list.names.has(user) === true,
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
