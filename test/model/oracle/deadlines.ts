/** Deadlines that have passed: of tasks that were not started, that wait, or that no worker knows. */
import { end } from './graph.ts';
import { knownAt } from './parked.ts';
import { isAbandoned } from './runs.ts';
import { wakeByTime } from './waits.ts';
import {
  byBytes,
  ended,
  type Key,
  note,
  sourceOf,
  type Task,
  tasksWhere,
  unmetOf,
  type World,
} from './world.ts';

/** Whether its time to start is over. */
export function isExpired(world: World, task: Task): boolean {
  return !ended(task) && (task.expiresAt ?? Number.POSITIVE_INFINITY) <= world.now;
}

/** It has not started in time, and never will. */
export function giveUp(world: World, task: Task): void {
  note(world, task, 'gaveUp');
  end(world, task, { state: 'failed', cause: { type: 'expired' } });
}

/** Before tasks are stored: what never starts holds no key and takes up no room. */
export function expireFirst(
  world: World,
  keys: readonly (Key | undefined)[],
  isLimited: boolean,
): void {
  for (const key of keys) {
    for (let isDone = false; !isDone; ) {
      const some = [key?.owner, key?.follower].map((id) => world.tasks.get(id ?? ''));
      const late = some.find((task) => task !== undefined && isExpired(world, task));
      if (late === undefined) isDone = true;
      else giveUp(world, late);
      if (late !== undefined) world.happened.push('key of an expired task');
    }
  }
  if (isLimited) expire(world);
}

/** Ends what was not started in time, or has waited too long for one that failed. */
export function expire(world: World): void {
  const over = tasksWhere(world, (task) => !ended(task) && deadlineOf(task) <= world.now).sort(
    (one, other) => deadlineOf(one) - deadlineOf(other) || one.order - other.order,
  );
  for (const task of over) {
    if (ended(task)) continue;
    if (isExpired(world, task)) {
      giveUp(world, task);
    } else if ((task.wakeAt ?? Number.POSITIVE_INFINITY) <= world.now) {
      world.happened.push('woken by time');
      wakeByTime(world, task);
    } else if ((task.parkedUntil ?? Number.POSITIVE_INFINITY) <= world.now) {
      lookAgain(world, task);
    } else {
      const inVain = unmetOf(task).filter((id) => endedOrMissing(world, task, id));
      const awaited = inVain.sort(byBytes)[0];
      note(world, task, 'canceled');
      end(world, task, { state: 'canceled', cause: { type: 'waited', id: awaited ?? '' } });
    }
  }
}

/** It has been parked for an hour: it fails, unless some worker may yet come for it. */
function lookAgain(world: World, task: Task): void {
  const heard = knownAt(world, task.name);
  if (isAbandoned(world, task)) {
    note(world, task, 'canceled');
    end(world, task, { state: 'canceled', cause: { type: 'run-ended', run: task.owner ?? '' } });
  } else if (world.now < world.sweepAfter) {
    // Those that know it have not had the time to speak.
    task.parkedUntil = world.sweepAfter;
  } else if (heard === undefined) {
    note(world, task, 'gaveUp');
    end(world, task, { state: 'failed', cause: { type: 'unknown-task' } });
  } else {
    task.parkedUntil = heard + 3_600_000;
  }
}

function endedOrMissing(world: World, task: Task, id: string): boolean {
  const source = sourceOf(world, task, id);
  return source === undefined || ended(source);
}

/** The least of its deadlines. */
export function deadlineOf(task: Task): number {
  const never = Number.POSITIVE_INFINITY;
  return Math.min(
    task.expiresAt ?? never,
    task.waitUntil ?? never,
    task.wakeAt ?? never,
    task.parkedUntil ?? never,
  );
}
