import { byArrival, type TaskEntry } from './entities.ts';
import { SortedList } from './sorted-list.ts';

/** Tasks that are suspended until a signal of one name comes to one task; the oldest first. */
export class Waiters {
  readonly #lists = new Map<string, SortedList<TaskEntry>>();

  add(entry: TaskEntry): void {
    for (const place of placesOf(entry)) {
      const list = this.#lists.get(place) ?? new SortedList(byArrival);
      list.add(entry);
      this.#lists.set(place, list);
    }
  }

  delete(entry: TaskEntry): void {
    for (const place of placesOf(entry)) {
      const list = this.#lists.get(place);
      list?.delete(entry);
      if (list?.size === 0) this.#lists.delete(place);
    }
  }

  /** Who waits longest for a signal of this name to this task. */
  first(id: string, name: string): TaskEntry | undefined {
    return this.#lists.get(placeOf(id, name))?.first();
  }
}

function placesOf({ optional }: TaskEntry): readonly string[] {
  const awaited = optional.run?.wait?.for;
  return awaited?.kind === 'signal' ? awaited.targets.map((id) => placeOf(id, awaited.name)) : [];
}

/** Names hold no line break. */
function placeOf(id: string, name: string): string {
  return `${name}\n${id}`;
}
