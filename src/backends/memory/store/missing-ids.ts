import { compareUtf8 } from '../../../base/utf8-order.ts';
import { awaitedFrom } from '../../../domain/task/dependency-edge.ts';
import { byArrival, type TaskEntry } from './entities.ts';
import { SortedList } from './sorted-list.ts';

type Waiters = SortedList<TaskEntry>;

/**
 * Tasks that wait for ids that are not stored, by the id and by the user that has to store it: `''`
 * for any user. So an enqueue skips waiters that may not depend on its task.
 */
export class MissingIds {
  private readonly lists = new Map<string, Map<string, Waiters>>();
  /** Number of lists. */
  size = 0;

  add(id: string, waiter: TaskEntry): void {
    const lists = this.lists.get(id) ?? new Map<string, Waiters>();
    this.lists.set(id, lists);
    const from = audienceOf(waiter);
    let list = lists.get(from);
    if (list === undefined) {
      list = new SortedList(byArrival);
      lists.set(from, list);
      this.size++;
    }
    list.add(waiter);
  }

  delete(id: string, waiter: TaskEntry): void {
    const list = this.lists.get(id)?.get(audienceOf(waiter));
    if (list?.delete(waiter) === true && list.size === 0) this.#drop(id, audienceOf(waiter));
  }

  /** Whether a task waits for this id of this user. */
  has(id: string, user: string): boolean {
    const lists = this.lists.get(id);
    return lists !== undefined && (lists.has('') || lists.has(user));
  }

  /** Whether this task waits for the id. */
  awaits(id: string, waiter: TaskEntry): boolean {
    return this.lists.get(id)?.get(audienceOf(waiter))?.has(waiter) === true;
  }

  /** Tasks that wait for this id of this user. */
  of(id: string, user: string): readonly Waiters[] {
    const lists = this.lists.get(id);
    if (lists === undefined) return [];
    return ['', user].map((from) => lists.get(from)).filter((list) => list !== undefined);
  }

  /** The same as one list, which is removed here: the user has stored the task. */
  take(id: string, user: string): Waiters | undefined {
    const [one, other] = this.of(id, user);
    this.#drop(id, '');
    this.#drop(id, user);
    if (one === undefined || other === undefined) return one;
    const [few, many] = one.size < other.size ? [one, other] : [other, one];
    for (const waiter of few) many.add(waiter);
    return many;
  }

  /** All waiters, by the bytes of the user that they wait for. */
  all(id: string): readonly (readonly [from: string, list: Waiters])[] {
    return [...(this.lists.get(id) ?? [])].sort(([a], [b]) => compareUtf8(a, b));
  }

  #drop(id: string, from: string): void {
    const lists = this.lists.get(id);
    if (lists?.delete(from) !== true) return;
    this.size--;
    if (lists.size === 0) this.lists.delete(id);
  }
}

function audienceOf({ owner, edges }: TaskEntry): string {
  return awaitedFrom({ user: owner.user, edges });
}
