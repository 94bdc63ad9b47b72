import { SortedList } from './sorted-list.ts';

/** A user in a queue, as far as it matters here. */
interface Owner {
  readonly user: string;
  parked: number;
}

/** A task, as far as it matters here. */
interface Placed {
  readonly name: string;
  readonly level: number;
  readonly owner: Owner;
}

/** Tasks of one user's level that are parked under one name, in the order of their places. */
export interface Aside<T extends Placed> {
  readonly name: string;
  readonly key: string;
  readonly user: T['owner'];
  readonly tasks: SortedList<T>;
  /** When it was its turn last to have some brought back: the least is next. */
  turn: number;
}

/**
 * The tasks of a queue that stand in no line, since a worker came to them that does not know their
 * names. By name, then by user and level, so that neither a crowd nor a level hides others.
 */
export class Parked<T extends Placed> {
  count = 0;
  private readonly byPlace: (a: T, b: T) => number;
  private readonly names: Map<string, Map<string, Aside<T>>> = new Map();
  private turns = 0;

  constructor(byPlace: (a: T, b: T) => number) {
    this.byPlace = byPlace;
  }

  /** `turn`: when it was its turn last, of one that was brought back and is parked again. */
  add(entry: T, turn = 0): void {
    const { name, owner } = entry;
    const users = this.names.get(name) ?? new Map<string, Aside<T>>();
    this.names.set(name, users);
    const key = keyOf(owner, entry.level);
    const fresh: Aside<T> = {
      name,
      key,
      user: owner,
      tasks: new SortedList(this.byPlace),
      turn: this.turns + 1,
    };
    const aside = users.get(key) ?? fresh;
    if (aside === fresh) this.turns++;
    users.set(key, aside);
    aside.tasks.add(entry);
    if (turn > 0) aside.turn = turn;
    this.turns = Math.max(this.turns, turn);
    owner.parked++;
    this.count++;
  }

  delete(entry: T): void {
    const users = this.names.get(entry.name);
    const aside = users?.get(keyOf(entry.owner, entry.level));
    if (users === undefined || aside === undefined || !aside.tasks.delete(entry)) return;
    entry.owner.parked--;
    this.count--;
    if (aside.tasks.size > 0) return;
    users.delete(aside.key);
    if (users.size === 0) this.names.delete(entry.name);
  }

  has(entry: T): boolean {
    return this.#at(entry.name, entry.owner, entry.level)?.has(entry) === true;
  }

  /** When it was the turn last of those that it is parked with. */
  turnOf({ name, owner, level }: T): number {
    return this.names.get(name)?.get(keyOf(owner, level))?.turn ?? 0;
  }

  /** The latest turn of any. */
  get newestTurn(): number {
    return this.turns;
  }

  knows(name: string): boolean {
    return this.names.has(name);
  }

  /** Whose turn it is, of these names and of users that may be reached. */
  rotation(names: Iterable<string>, reaches: (user: T['owner']) => boolean): Aside<T>[] {
    const found: Aside<T>[] = [];
    for (const name of names) {
      for (const aside of this.names.get(name)?.values() ?? []) {
        if (reaches(aside.user)) found.push(aside);
      }
    }
    return found.sort((a, b) => a.turn - b.turn);
  }

  /** It has had its turn; answers when that was. */
  toEnd(aside: Aside<T>): number {
    aside.turn = ++this.turns;
    return aside.turn;
  }

  /** Those of one user's level, of all names. */
  *of(user: Owner, level: number): Generator<T, void, undefined> {
    if (user.parked === 0) return;
    for (const name of this.names.keys()) yield* this.#at(name, user, level) ?? [];
  }

  #at(name: string, user: Owner, level: number): SortedList<T> | undefined {
    return this.names.get(name)?.get(keyOf(user, level))?.tasks;
  }
}

function keyOf({ user }: Owner, level: number): string {
  return `${level}${user}`;
}
