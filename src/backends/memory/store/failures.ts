import { compareUtf8 } from '../../../base/utf8-order.ts';
import { LIMITS } from '../../../domain/limits.ts';
import type { ErrorGroupFacts } from '../../../domain/port/inspection.ts';
import { STEPS } from '../../../domain/step-bounds.ts';
import { type Cause, errorGroupOf } from '../../../domain/task/cause.ts';
import { nameIn } from '../../../domain/task/task-name.ts';
import { byEnd, type TaskEntry } from './entities.ts';
import { SortedList } from './sorted-list.ts';

/** Similar failures. */
interface ErrorGroup {
  readonly id: string;
  readonly firstAt: number;
  readonly failed: SortedList<TaskEntry>;
  attempts: number;
  lastAt: number;
  newest: string;
}

/** Failed tasks by name and by error group, in the order of their ends. */
export class Failures {
  private readonly failedByName = new Map<string, SortedList<TaskEntry>>();
  private readonly groupsById = new Map<string, ErrorGroup>();
  /** Groups without a kept failed task, the latest last. */
  private readonly retried = new Map<string, ErrorGroup>();

  /** Adds a failed task. */
  enter(entry: TaskEntry, now: number): void {
    const name = nameIn(entry.name);
    const named = this.failedByName.get(name) ?? new SortedList(byEnd);
    named.add(entry);
    this.failedByName.set(name, named);
    const { cause } = entry.optional;
    if (cause !== undefined) this.#count(entry, cause, now, true);
  }

  /** Removes a task that is no longer failed. */
  leave(entry: TaskEntry): void {
    const name = nameIn(entry.name);
    const named = this.failedByName.get(name);
    named?.delete(entry);
    if (named?.size === 0) this.failedByName.delete(name);
    const group = this.#groupOf(entry);
    group?.failed.delete(entry);
    if (group?.failed.size === 0) this.groupsById.delete(group.id);
  }

  /** Counts a failed attempt that will be retried. */
  count(entry: TaskEntry, cause: Cause, now: number): void {
    this.#count(entry, cause, now, false);
  }

  has(entry: TaskEntry): boolean {
    if (this.failedByName.get(nameIn(entry.name))?.has(entry) !== true) return false;
    const group = errorGroupOf(entry.optional.cause, entry.name);
    return group === undefined || this.groupsById.get(group)?.failed.has(entry) === true;
  }

  /** All groups, the latest last. */
  all(): readonly Omit<ErrorGroup, 'failed'>[] {
    return [...this.groupsById.values()].sort((a, b) => a.lastAt - b.lastAt);
  }

  /** All groups: those without failed tasks last, the one seen last at the end. */
  *inOrder(): Generator<Omit<ErrorGroup, 'failed'>, void, undefined> {
    for (const group of this.groupsById.values()) if (group.failed.size > 0) yield group;
    yield* this.retried.values();
  }

  /** Takes a group of another store, without its tasks, which `stand` adds. The latest come last. */
  takeOver(group: Omit<ErrorGroup, 'failed'>): void {
    const made = { ...group, failed: new SortedList(byEnd) };
    this.groupsById.set(group.id, made);
    this.retried.set(group.id, made);
  }

  /** Adds a task that failed in another store, which counted it. */
  stand(entry: TaskEntry): void {
    const name = nameIn(entry.name);
    const named = this.failedByName.get(name) ?? new SortedList(byEnd);
    named.add(entry);
    this.failedByName.set(name, named);
    const group = this.#groupOf(entry);
    group?.failed.add(entry);
    if (group !== undefined) this.retried.delete(group.id);
  }

  /** Failed tasks of a name, of all versions. */
  named(name: string): SortedList<TaskEntry> {
    return this.failedByName.get(nameIn(name)) ?? new SortedList(byEnd);
  }

  /** Failed tasks of an error group. */
  of(group: string): SortedList<TaskEntry> {
    return this.groupsById.get(group)?.failed ?? new SortedList(byEnd);
  }

  /** Groups with failed tasks first; in both parts the latest first. */
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

  /** `isEnd`: the task has failed with that. Ignores a task that failed because another did. */
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

  /** Removes the oldest groups without a kept failed task that are expired or too many, a few at a time. */
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
