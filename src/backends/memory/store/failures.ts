import { compareUtf8 } from '../../../base/utf8-order.ts';
import { STEPS } from '../../../domain/layout/step-bounds.ts';
import { LIMITS } from '../../../domain/limits.ts';
import type { ErrorGroupFacts } from '../../../domain/port/inspection.ts';
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
  readonly #named = new Map<string, SortedList<TaskEntry>>();
  readonly #groups = new Map<string, ErrorGroup>();

  /** It has failed. */
  enter(entry: TaskEntry, now: number): void {
    const name = nameIn(entry.name);
    const named = this.#named.get(name) ?? new SortedList(byEnd);
    named.add(entry);
    this.#named.set(name, named);
    const { cause } = entry.optional;
    if (cause !== undefined) this.count(entry, cause, now)?.failed.add(entry);
  }

  /** It is not failed any more. */
  leave(entry: TaskEntry): void {
    const name = nameIn(entry.name);
    const named = this.#named.get(name);
    named?.delete(entry);
    if (named?.size === 0) this.#named.delete(name);
    const group = this.#groupOf(entry);
    group?.failed.delete(entry);
    if (group?.failed.size === 0) this.#groups.delete(group.id);
  }

  /** One attempt more has failed so; `undefined` when it followed another. */
  count({ id: newest, name }: TaskEntry, cause: Cause, now: number): ErrorGroup | undefined {
    const id = errorGroupOf(cause, name);
    if (id === undefined) return undefined;
    let group = this.#groups.get(id);
    if (group === undefined) {
      group = { id, firstAt: now, failed: new SortedList(byEnd), attempts: 0, lastAt: now, newest };
      this.#groups.set(id, group);
      this.#forgetSome(now);
    }
    group.attempts++;
    group.lastAt = now;
    group.newest = newest;
    return group;
  }

  has(entry: TaskEntry): boolean {
    if (this.#named.get(nameIn(entry.name))?.has(entry) !== true) return false;
    const group = errorGroupOf(entry.optional.cause, entry.name);
    return group === undefined || this.#groups.get(group)?.failed.has(entry) === true;
  }

  /** Those of a name, whatever their versions. */
  named(name: string): SortedList<TaskEntry> {
    return this.#named.get(nameIn(name)) ?? new SortedList(byEnd);
  }

  /** Those of an error group. */
  of(group: string): SortedList<TaskEntry> {
    return this.#groups.get(group)?.failed ?? new SortedList(byEnd);
  }

  /** Those with failed tasks first; of each the one seen last first. */
  groups(now: number): readonly ErrorGroupFacts[] {
    const known = [...this.#groups.values()].filter(
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
    return id === undefined ? undefined : this.#groups.get(id);
  }

  /** Of those of which no failed task is kept, the ones that are too old or too many. */
  #forgetSome(now: number): void {
    const empty = [...this.#groups.values()].filter(({ failed }) => failed.size === 0);
    const oldest = empty.sort(byKindAndMoment).slice(-STEPS.errorGroupsStep).toReversed();
    for (const [at, { id, lastAt }] of oldest.entries()) {
      if (now - lastAt <= LIMITS.errorGroupMs && at >= empty.length - LIMITS.errorGroups) return;
      this.#groups.delete(id);
    }
  }
}

function byKindAndMoment(a: ErrorGroup, b: ErrorGroup): number {
  const kinds = Number(a.failed.size === 0) - Number(b.failed.size === 0);
  return kinds || b.lastAt - a.lastAt || compareUtf8(a.id, b.id);
}
