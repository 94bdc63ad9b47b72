/** Events: who waits for them, in which order they wake, and what one step leaves to the next. */
import type { WaitEvent } from '../../../src/domain/task/wait.ts';
import { byBytes, type Published, type Task, type World } from './world.ts';

/** Of one user, name and key the newest are kept. */
const EVENTS_KEPT = 32;
/** So many are woken by one step. */
const WOKEN_AT_ONCE = 60;

export function placeOf(user: string, { name, key }: Pick<WaitEvent, 'name' | 'key'>): string {
  return JSON.stringify([user, name, key]);
}

/** Where a task waits for an event, if it does. */
export function eventPlaceOf({ user, wait }: Task): string | undefined {
  return wait?.for.kind === 'event' ? placeOf(user, wait.for) : undefined;
}

/** It waits for the next one from here on. */
export function beginEventWait(world: World, task: Task): void {
  const place = eventPlaceOf(task);
  if (place !== undefined) task.eventsBefore = newest(world, place)?.number ?? 0;
}

/** It was published before, and is kept. */
export function isKept(world: World, user: string, event: WaitEvent): boolean {
  const kept = world.events.get(placeOf(user, event)) ?? [];
  return kept.some(({ event: { eventId } }) => eventId === event.eventId);
}

export function keepEvent(world: World, place: string, event: WaitEvent): void {
  const kept = world.events.get(place) ?? [];
  const number = (newest(world, place)?.number ?? 0) + 1;
  world.events.set(place, [...kept, { number, at: world.now, event }].slice(-EVENTS_KEPT));
}

/** The newest, if it is not too old for a wait that looks back. */
export function recentEvent(world: World, task: Task): string | undefined {
  const place = eventPlaceOf(task);
  const within = task.wait?.withinMs;
  if (place === undefined || within === undefined) return undefined;
  const last = newest(world, place);
  return last !== undefined && world.now - last.at <= within ? last.event.payload : undefined;
}

/** What is on its way to a task that has waited since before it was published. */
export function pendingFor(world: World, task: Task): Published | undefined {
  const kept = world.events.get(eventPlaceOf(task) ?? '') ?? [];
  return kept.find(({ number }) => number > task.eventsBefore);
}

/** As many as one step wakes, who began first before others; those that are left are due at once. */
export function deliver(world: World, place: string, wake: (task: Task) => void): void {
  const all = pendingAt(world, place);
  if (all.length > WOKEN_AT_ONCE) world.happened.push('event wakes more than one step does');
  for (const task of all.slice(0, WOKEN_AT_ONCE)) wake(task);
  passEventOn(world, place);
}

/** The first of those that no step has woken is due now. */
export function passEventOn(world: World, place: string): void {
  const [first] = pendingAt(world, place);
  if (first !== undefined && (first.wakeAt ?? Number.POSITIVE_INFINITY) > world.now) {
    first.wakeAt = world.now;
  }
}

function pendingAt(world: World, place: string): readonly Task[] {
  const last = newest(world, place)?.number ?? 0;
  return [...world.tasks.values()]
    .filter((task) => eventPlaceOf(task) === place && task.eventsBefore < last)
    .sort((one, other) => one.eventsBefore - other.eventsBefore || byBytes(one.id, other.id));
}

function newest(world: World, place: string): Published | undefined {
  return world.events.get(place)?.at(-1);
}
