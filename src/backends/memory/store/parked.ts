import { SortedList } from './sorted-list.ts';

/** Fields of a user in a queue that parking reads. */
interface Owner {
  readonly user: string;
  parked: number;
}

/** Fields of a task that parking reads. */
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
  /** Its latest turn to be brought back: the least is next. */
  turn: number;
}

/**
 * Tasks of a queue outside of its lines, whose names the workers that came did not know. By name,
 * then by user and level, so that neither many tasks nor a level hide others.
 */
export class Parked<T extends Placed> {
  count = 0;
  private readonly byPlace: (a: T, b: T) => number;
  private readonly names: Map<string, Map<string, Aside<T>>> = new Map();
  private turns = 0;

  constructor(byPlace: (a: T, b: T) => number) {
    this.byPlace = byPlace;
  }

  /** `turn`: the latest turn, for a task that was brought back and is parked again. */
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

  /** One of another store, as it was parked there. */
  stand(entry: T, turn: number): void {
    const { turns } = this;
    this.add(entry, turn);
    this.turns = Math.max(turns, turn);
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

  /** Latest turn of the tasks that it is parked with. */
  turnOf({ name, owner, level }: T): number {
    return this.names.get(name)?.get(keyOf(owner, level))?.turn ?? 0;
  }

  /** The latest turn of all. */
  get newestTurn(): number {
    return this.turns;
  }

  /** No turn was later than this. */
  takeOver(newestTurn: number): void {
    this.turns = newestTurn;
  }

  /** All of them, by name, then by user and level. */
  *all(): Generator<T, void, undefined> {
    for (const users of this.names.values()) for (const { tasks } of users.values()) yield* tasks;
  }

  knows(name: string): boolean {
    return this.names.has(name);
  }

  /** The next turn of these names and reachable users. */
  rotation(names: Iterable<string>, reaches: (user: T['owner']) => boolean): Aside<T>[] {
    const found: Aside<T>[] = [];
    for (const name of names) {
      for (const aside of this.names.get(name)?.values() ?? []) {
        if (reaches(aside.user)) found.push(aside);
      }
    }
    return found.sort((a, b) => a.turn - b.turn);
  }

  /** Moves it to the end after its turn; answers the number of the turn. */
  toEnd(aside: Aside<T>): number {
    aside.turn = ++this.turns;
    return aside.turn;
  }

  /** Tasks of one user's level, of all names. */
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
