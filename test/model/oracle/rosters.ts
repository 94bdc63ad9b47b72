/** Lists of users that restricted workers serve first, or may steal from. */
import { byBytes, type List, type QueueEntry, type Worker } from './world.ts';

/** A list together with the worker's use of it. */
export interface Roster {
  readonly list: List;
}

export function listKey(kind: 'a' | 's', names: readonly string[]): string {
  return JSON.stringify([kind, [...new Set(names)].sort(byBytes)]);
}

export function isAssigned(queue: QueueEntry, user: string): boolean {
  return [...queue.lists.values()].some((list) => list.kind === 'a' && list.names.has(user));
}

export function rosterOf(queue: QueueEntry, worker: Worker, kind: 'a' | 's'): Roster | undefined {
  const names = namesOf(worker, kind);
  const list = names === undefined ? undefined : queue.lists.get(listKey(kind, names));
  return list === undefined ? undefined : { list };
}

export function isRestricted(worker: Worker): boolean {
  return worker.assigned !== undefined || worker.steal !== undefined;
}

export function namesOf(worker: Worker, kind: 'a' | 's'): readonly string[] | undefined {
  const names = kind === 'a' ? worker.assigned : worker.steal;
  return names === undefined || names === 'any' || names.length === 0 ? undefined : names;
}
