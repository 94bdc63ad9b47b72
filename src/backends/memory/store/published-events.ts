import { compareUtf8 } from '../../../base/utf8-order.ts';
import { LIMITS } from '../../../domain/limits.ts';
import type { WaitEvent } from '../../../domain/task/wait.ts';
import type { TaskEntry } from './entities.ts';
import { SortedList } from './sorted-list.ts';

/** A task that waits for events of one place, with the number of the latest event at its start. */
interface EventWaiter {
  readonly entry: TaskEntry;
  readonly number: number;
}

/** An event, and the moment of its publication, in ms since the epoch. */
interface KeptEvent {
  readonly at: number;
  readonly event: WaitEvent;
}

/** Kept events of one place, by number. */
export interface KeptEvents {
  newest: number;
  readonly events: Map<number, KeptEvent>;
  readonly ids: Set<string>;
  keptUntil: number;
}

/** Events by user, name and key: the latest, and the tasks that wait for the next one. */
export class PublishedEvents {
  private readonly kept = new Map<string, KeptEvents>();
  private readonly waiters = new Map<string, SortedList<EventWaiter>>();
  private readonly places = new Map<TaskEntry, readonly [place: string, waiter: EventWaiter]>();

  /** Whether an event with this id is kept. */
  has(place: string, eventId: string, now: number): boolean {
    return this.#keptAt(place, now)?.ids.has(eventId) === true;
  }

  /** Keeps an event. */
  publish(place: string, event: WaitEvent, now: number): void {
    this.#sweep(now);
    const kept = this.#keptAt(place, now) ?? {
      newest: 0,
      events: new Map(),
      ids: new Set(),
      keptUntil: 0,
    };
    kept.newest = this.newest(place, now) + 1;
    kept.events.set(kept.newest, { at: now, event });
    kept.ids.add(event.eventId);
    const gone = kept.events.get(kept.newest - LIMITS.events);
    if (gone !== undefined) {
      kept.events.delete(kept.newest - LIMITS.events);
      kept.ids.delete(gone.event.eventId);
    }
    kept.keptUntil = Math.max(kept.keptUntil, now + event.keepMs);
    this.kept.set(place, kept);
  }

  /** Kept events of all places. */
  all(): Iterable<readonly [place: string, kept: KeptEvents]> {
    return this.kept;
  }

  /** Takes the kept events of another store. */
  takeOver(place: string, kept: KeptEvents): void {
    this.kept.set(place, kept);
  }

  /** Number of the latest event at the start of its wait; `undefined`: it waits for none. */
  begunAt(entry: TaskEntry): number | undefined {
    return this.places.get(entry)?.[1].number;
  }

  /** Number of the latest event, even if that is not kept any more. */
  newest(place: string, now: number): number {
    const kept = this.#keptAt(place, now);
    if (kept !== undefined) return kept.newest;
    const list = this.waiters.get(place);
    return [...(list?.from(list.size - 1) ?? [])][0]?.number ?? 0;
  }

  /** The latest payload, if it was published within this time. */
  recent(place: string, withinMs: number, now: number): string | undefined {
    const kept = this.#keptAt(place, now);
    const last = kept?.events.get(kept.newest);
    return last !== undefined && now - last.at <= withinMs ? last.event.payload : undefined;
  }

  enter(place: string, entry: TaskEntry, now: number): void {
    this.stand(place, entry, this.newest(place, now));
  }

  /** The task waits since this number was the latest. */
  stand(place: string, entry: TaskEntry, number: number): void {
    const waiter = { entry, number };
    const list = this.waiters.get(place) ?? new SortedList<EventWaiter>(byNumber);
    list.add(waiter);
    this.waiters.set(place, list);
    this.places.set(entry, [place, waiter]);
  }

  /** Ends the wait of a task; answers its place. */
  leave(entry: TaskEntry): string | undefined {
    const found = this.places.get(entry);
    if (found === undefined) return undefined;
    const [place, waiter] = found;
    this.places.delete(entry);
    const list = this.waiters.get(place);
    list?.delete(waiter);
    if (list?.size === 0) this.waiters.delete(place);
    return place;
  }

  placeOf(entry: TaskEntry): string | undefined {
    return this.places.get(entry)?.[0];
  }

  /** The event for a waiting task. */
  eventFor(entry: TaskEntry, now: number): KeptEvent | undefined {
    const [place = '', waiter] = this.places.get(entry) ?? [];
    const kept = this.#keptAt(place, now);
    if (waiter === undefined || kept === undefined) return undefined;
    const first = Math.max(waiter.number + 1, kept.newest - LIMITS.events + 1);
    return kept.events.get(first);
  }

  /** The first task whose wait began before the latest event. */
  first(place: string, now: number): TaskEntry | undefined {
    const waiter = this.waiters.get(place)?.first();
    if (waiter === undefined || waiter.number >= this.newest(place, now)) return undefined;
    return waiter.entry;
  }

  #keptAt(place: string, now: number): KeptEvents | undefined {
    const kept = this.kept.get(place);
    return kept !== undefined && kept.keptUntil > now ? kept : undefined;
  }

  /** Each new place checks two old ones, so that expired events do not pile up. */
  #sweep(now: number): void {
    for (const [place, kept] of [...firstOf(this.kept, 2)]) {
      this.kept.delete(place);
      if (kept.keptUntil > now) this.kept.set(place, kept);
    }
  }
}

function* firstOf<K, V>(map: ReadonlyMap<K, V>, count: number): Generator<readonly [K, V]> {
  let left = count;
  for (const row of map) {
    if (left-- === 0) return;
    yield row;
  }
}

/** Orders by the latest event at the start of a wait. */
function byNumber(a: EventWaiter, b: EventWaiter): number {
  return a.number - b.number || compareUtf8(a.entry.id, b.entry.id);
}
