import { WAIT_KINDS, type WaitFigure, type WaitTarget } from '../../../domain/task/wait.ts';
import { byArrival, type TaskEntry } from './entities.ts';
import { SortedList } from './sorted-list.ts';

/** Suspended tasks that wait for signals, events, answers and times. */
export class Waiters {
  /** Tasks that wait for signals, by target and name of the signal; the oldest first. */
  private readonly lists = new Map<string, SortedList<TaskEntry>>();
  /** All of them by kind, with the start of their wait. */
  private readonly begun = new Map<WaitTarget['kind'], Map<TaskEntry, number>>();

  add(entry: TaskEntry, now: number): void {
    const { kind } = entry.optional.run?.wait?.for ?? {};
    if (kind === undefined) return;
    const of = this.begun.get(kind) ?? new Map<TaskEntry, number>();
    this.begun.set(kind, of.set(entry, now));
    for (const place of placesOf(entry)) {
      const list = this.lists.get(place) ?? new SortedList(byArrival);
      list.add(entry);
      this.lists.set(place, list);
    }
  }

  delete(entry: TaskEntry): void {
    const { kind } = entry.optional.run?.wait?.for ?? {};
    if (kind !== undefined) this.begun.get(kind)?.delete(entry);
    for (const place of placesOf(entry)) {
      const list = this.lists.get(place);
      list?.delete(entry);
      if (list?.size === 0) this.lists.delete(place);
    }
  }

  /** Start of its wait. */
  since(entry: TaskEntry): number {
    const { kind } = entry.optional.run?.wait?.for ?? {};
    return (kind && this.begun.get(kind)?.get(entry)) ?? 0;
  }

  figures(): readonly WaitFigure[] {
    return WAIT_KINDS.map((kind) => {
      const moments = [...(this.begun.get(kind)?.values() ?? [])];
      const least = moments.reduce((one, other) => Math.min(one, other), Number.POSITIVE_INFINITY);
      const count = moments.length;
      return count === 0 ? { kind, count } : { kind, count, since: least };
    });
  }

  /** The task with the longest wait for a signal of this name to this task. */
  first(id: string, name: string): TaskEntry | undefined {
    return this.lists.get(placeOf(id, name))?.first();
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
