/** Events: they end the waits of their user's tasks that began before, some at once, the others by maintenance. */
import { LIMITS } from '../../../domain/limits.ts';
import type { WaitEvent } from '../../../domain/task/wait.ts';
import type { TaskEntry } from '../store/entities.ts';
import { reindex } from '../store/ready-index.ts';
import type { Store } from '../store/store.ts';
import { wake } from './end.ts';
import { passEventOn } from './places.ts';
import { answerWait } from './signals.ts';

/** Whether an event with this id is kept. */
export function isPublished(store: Store, user: string, event: WaitEvent): boolean {
  return store.events.has(eventPlace(user, event), event.eventId, store.now);
}

/** Keeps an event, and ends the waits for it. */
export function publishEvent(store: Store, user: string, event: WaitEvent): void {
  const place = eventPlace(user, event);
  store.events.publish(place, event, store.now);
  deliver(store, place);
}

/** Names hold no line break. */
export function eventPlace(user: string, { name, key }: Pick<WaitEvent, 'name' | 'key'>): string {
  return `${user.length}:${user}${name}\n${key}`;
}

/** Parses the text of {@link eventPlace}. */
export function readEventPlace(place: string): {
  readonly user: string;
  readonly name: string;
  readonly key: string;
} {
  const from = place.indexOf(':') + 1;
  const to = from + Number(place.slice(0, from - 1));
  const line = place.indexOf('\n', to);
  return { user: place.slice(from, to), name: place.slice(to, line), key: place.slice(line + 1) };
}

/** Ends a wait whose time has passed, or which an earlier event ends. */
export function wakeByTime(store: Store, entry: TaskEntry): void {
  const place = store.events.placeOf(entry);
  if (entry.optional.run?.wait === undefined) wake(store, entry);
  else if (place !== undefined && takeEvent(store, entry)) deliver(store, place);
  else answerWait(store, entry, { by: 'time', payload: '' });
}

function deliver(store: Store, place: string): void {
  for (let left = LIMITS.cascadeStep; left > 0; left--) {
    const entry = store.events.first(place, store.now);
    if (entry === undefined || !takeEvent(store, entry)) return;
  }
  passEventOn(store, place);
}

/** An event ends the wait; or its timeout does, if that passed before the event. */
function takeEvent(store: Store, entry: TaskEntry): boolean {
  const found = store.events.eventFor(entry, store.now);
  if (found === undefined) return false;
  const { wakeAt = found.at } = entry.ownRun();
  // Removed first, so that it passes no event on.
  store.events.leave(entry);
  answerWait(
    store,
    entry,
    found.at > wakeAt ? { by: 'time', payload: '' } : { by: 'event', payload: found.event.payload },
  );
  reindex(store, entry.owner);
  return true;
}
