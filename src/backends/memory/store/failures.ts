import { compareUtf8 } from '../../../base/utf8-order.ts';
import { LIMITS } from '../../../domain/limits.ts';
import type { ErrorGroupFacts } from '../../../domain/port/inspection.ts';
import { STEPS } from '../../../domain/step-bounds.ts';
import { type Cause, errorGroupOf } from '../../../domain/task/cause.ts';
import { nameIn } from '../../../domain/task/task-name.ts';
import { byEnd, type TaskEntry } from './entities.ts';
import { SortedList } from './sorted-list.ts';

/** Failures that are alike. */
interface ErrorGroup {
  readonly id: string;
  readonly firstAt: number;
  readonly failed: SortedList<TaskEntry>;
  attempts: number;
  lastAt: number;
  newest: string;
}

/** Failed tasks by name and by what they failed with, in the order of their ends. */
export class Failures {
  private readonly failedByName = new Map<string, SortedList<TaskEntry>>();
  private readonly groupsById = new Map<string, ErrorGroup>();
  /** Those of which no failed task is kept, the one seen last at the end. */
  private readonly retried = new Map<string, ErrorGroup>();

  /** It has failed. */
  enter(entry: TaskEntry, now: number): void {
    const name = nameIn(entry.name);
    const named = this.failedByName.get(name) ?? new SortedList(byEnd);
    named.add(entry);
    this.failedByName.set(name, named);
    const { cause } = entry.optional;
    if (cause !== undefined) this.#count(entry, cause, now, true);
  }

  /** It is not failed any more. */
  leave(entry: TaskEntry): void {
    const name = nameIn(entry.name);
    const named = this.failedByName.get(name);
    named?.delete(entry);
    if (named?.size === 0) this.failedByName.delete(name);
    const group = this.#groupOf(entry);
    group?.failed.delete(entry);
    if (group?.failed.size === 0) this.groupsById.delete(group.id);
  }

  /** One attempt more has failed so, and will be made again. */
  count(entry: TaskEntry, cause: Cause, now: number): void {
    this.#count(entry, cause, now, false);
  }

  has(entry: TaskEntry): boolean {
    if (this.failedByName.get(nameIn(entry.name))?.has(entry) !== true) return false;
    const group = errorGroupOf(entry.optional.cause, entry.name);
    return group === undefined || this.groupsById.get(group)?.failed.has(entry) === true;
  }

  /** All groups, those that were seen last behind the others. */
  all(): readonly Omit<ErrorGroup, 'failed'>[] {
    return [...this.groupsById.values()].sort((a, b) => a.lastAt - b.lastAt);
  }

  /** A group of another store, without its tasks, which `stand` adds. Those seen last come last. */
  takeOver(group: Omit<ErrorGroup, 'failed'>): void {
    const made = { ...group, failed: new SortedList(byEnd) };
    this.groupsById.set(group.id, made);
    this.retried.set(group.id, made);
  }

  /** A task that failed in another store: it was counted there. */
  stand(entry: TaskEntry): void {
    const name = nameIn(entry.name);
    const named = this.failedByName.get(name) ?? new SortedList(byEnd);
    named.add(entry);
    this.failedByName.set(name, named);
    const group = this.#groupOf(entry);
    group?.failed.add(entry);
    if (group !== undefined) this.retried.delete(group.id);
  }

  /** Those of a name, of all versions. */
  named(name: string): SortedList<TaskEntry> {
    return this.failedByName.get(nameIn(name)) ?? new SortedList(byEnd);
  }

  /** Those of an error group. */
  of(group: string): SortedList<TaskEntry> {
    return this.groupsById.get(group)?.failed ?? new SortedList(byEnd);
  }

  /** Those with failed tasks first; of each the one seen last first. */
  groups(now: number): readonly ErrorGroupFacts[] {
    const known = [...this.groupsById.values()].filter(
      ({ failed, lastAt }) => failed.size > 0 || now - lastAt <= LIMITS.errorGroupMs,
    );
    return known.sort(byKindAndMoment).map((group) => ({
      id: group.id,
      failed: group.failed.size,
      attempts: group.attempts,
      firstAt: group.firstAt,
      lastAt: group.lastAt,
      sample: group.failed.last()?.id ?? group.newest,
    }));
  }

  #groupOf({ name, optional }: TaskEntry): ErrorGroup | undefined {
    const id = errorGroupOf(optional.cause, name);
    return id === undefined ? undefined : this.groupsById.get(id);
  }

  /** `isEnd`: the task has failed with that. Nothing of one that followed another. */
  #count(entry: TaskEntry, cause: Cause, now: number, isEnd: boolean): void {
    const id = errorGroupOf(cause, entry.name);
    if (id === undefined) return;
    const known = this.groupsById.get(id);
    const group = known ?? newGroup(id, entry.id, now);
    group.attempts++;
    group.lastAt = now;
    group.newest = entry.id;
    if (isEnd) group.failed.add(entry);
    this.retried.delete(id);
    if (group.failed.size === 0) this.retried.set(id, group);
    if (known !== undefined) return;
    this.groupsById.set(id, group);
    this.#forgetSome(now);
  }

  /** Of those of which no failed task is kept, the oldest that are over or too many, a few at a time. */
  #forgetSome(now: number): void {
    for (const { id, lastAt } of [...this.retried.values()].slice(0, STEPS.errorGroupsStep)) {
      const isOver = now - lastAt > LIMITS.errorGroupMs;
      if (!isOver && this.retried.size <= LIMITS.errorGroups) return;
      this.retried.delete(id);
      this.groupsById.delete(id);
    }
  }
}

function newGroup(id: string, newest: string, now: number): ErrorGroup {
  return { id, firstAt: now, failed: new SortedList(byEnd), attempts: 0, lastAt: now, newest };
}

function byKindAndMoment(a: ErrorGroup, b: ErrorGroup): number {
  const kinds = Number(a.failed.size === 0) - Number(b.failed.size === 0);
  return kinds || b.lastAt - a.lastAt || compareUtf8(a.id, b.id);
}
