/** Named values of users. Nothing is ever taken away: whether a value is there follows from its facts. */
import type { XComPlace, XComValue, XComWrite } from '../../../src/domain/task/xcom.ts';
import { AnyOf } from '../same.ts';
import { byBytes, ended, readersOf, type World } from './world.ts';

/** A value as it was pushed. */
export interface Pushed {
  readonly place: XComPlace;
  readonly text: string;
  readonly ttlMs: number;
  readonly pushedAt: number;
  /** Absent when no task pushed it. */
  readonly writer: string | undefined;
}

/** Changes values, in order, on behalf of a task or of none. */
export function writeValues(
  world: World,
  writes: readonly XComWrite[],
  writer: string | undefined,
): void {
  for (const write of writes) {
    const name = nameOf(write.place);
    if (write.type === 'delete') {
      if (world.values.delete(name)) world.happened.push('value deleted');
      continue;
    }
    const { place, text, ttlMs } = write;
    if (world.values.has(name)) world.happened.push('value replaced');
    if (writer !== undefined) world.happened.push('value of a task');
    world.over.delete(name);
    world.values.set(name, { place, text, ttlMs, pushedAt: world.now, writer });
  }
}

/** Notes what is over now: whether it comes back with a new dependent depends on who was quicker. */
export function noteOver(world: World): void {
  for (const [name, value] of world.values) {
    if (!isThere(world, value)) world.over.add(name);
  }
}

/** What is there at a place; may be nothing as well when it was over once. */
export function valueAt(world: World, place: XComPlace): XComValue | undefined | AnyOf {
  const name = nameOf(place);
  const value = world.values.get(name);
  if (value === undefined) return undefined;
  if (!isThere(world, value)) {
    world.happened.push('value over');
    return undefined;
  }
  const till = endOf(world, value);
  if (till === undefined) world.happened.push('value kept by a task');
  const { text, writer, pushedAt } = value;
  const told = {
    ...place,
    text,
    pushedAt,
    ...(writer === undefined ? {} : { writer }),
    ...(till === undefined ? {} : { expiresAt: till }),
  };
  return world.over.has(name) ? new AnyOf(told, undefined) : told;
}

/** Keys of what is there in one namespace, with and without those that may be there. */
export function keysIn(world: World, user: string, namespace: string): AnyOf {
  let answers: readonly (readonly string[])[] = [[]];
  const here = [...world.values]
    .filter(([, { place }]) => place.user === user && place.namespace === namespace)
    .filter(([, value]) => isThere(world, value))
    .sort(([, one], [, other]) => byBytes(one.place.key, other.place.key));
  for (const [name, { place }] of here) {
    const longer = answers.map((keys) => [...keys, place.key]);
    answers = world.over.has(name) ? [...answers, ...longer] : longer;
  }
  return new AnyOf(...answers);
}

function isThere(world: World, value: Pushed): boolean {
  const till = endOf(world, value);
  return till === undefined || till > world.now;
}

/** Whether every value that was pushed and not deleted is there. */
export function areNoneOver(world: World): boolean {
  return [...world.values.values()].every((value) => isThere(world, value));
}

function endOf(world: World, { pushedAt, ttlMs, writer }: Pushed): number | undefined {
  const task = writer === undefined ? undefined : world.tasks.get(writer);
  if (writer === undefined || task === undefined) return pushedAt + ttlMs;
  if (!ended(task) || readersOf(world, writer).length > 0) return undefined;
  return Math.max(pushedAt, task.endedAt ?? 0) + ttlMs;
}

function nameOf({ user, namespace, key }: XComPlace): string {
  return JSON.stringify([user, namespace, key]);
}
