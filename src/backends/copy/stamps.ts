import { isEnd } from '../../domain/task/task.ts';
import type { TaskEntry } from '../memory/store/entities.ts';
import type { Store } from '../memory/store/store.ts';

/**
 * Numbers by which Redis orders what the embedded backend orders by several: arrivals first, then ends, then
 * places in line. Each is greater than those before.
 */
export class Stamps {
  readonly #places = new Map<TaskEntry, number>();
  readonly #arrivals: number;
  /** The latest. */
  last: number;

  constructor(store: Store) {
    this.#arrivals = store.arrivals;
    this.last = store.arrivals + store.endings;
    const placed = new Map<unknown, TaskEntry[]>();
    for (const entry of store.records.values()) {
      if (entry.seq === 0 || isEnd(entry.state)) continue;
      const own = placed.get(entry.owner) ?? [];
      own.push(entry);
      placed.set(entry.owner, own);
    }
    for (const entries of placed.values()) this.#place(entries);
    for (const { parked } of store.queues.values())
      this.last = Math.max(this.last, parked.newestTurn);
  }

  /** Of its arrival. */
  arrival(entry: TaskEntry): number {
    return entry.order;
  }

  /** The same as it stands in texts and in front of ids. */
  arrivalText(entry: TaskEntry): string {
    return stampText(entry.order);
  }

  /** Of its end. */
  end(entry: TaskEntry): number {
    return this.#arrivals + entry.endOrder;
  }

  /** Of its place in line, when it ever had one. */
  place(entry: TaskEntry): number {
    return this.#places.get(entry) ?? 0;
  }

  /** Mostly the tasks of a user stand as they came, and then nothing more is to be kept of each. */
  #place(entries: TaskEntry[]): void {
    entries.sort((a, b) => a.seq - b.seq);
    const areInOrder = entries.every((entry, at) => entry.order > (entries[at - 1]?.order ?? 0));
    for (const entry of entries) this.#places.set(entry, areInOrder ? entry.order : ++this.last);
  }
}

/** As it stands in texts and in front of ids. */
export function stampText(stamp: number): string {
  return stamp.toString(16).padStart(12, '0');
}
