import { SortedList } from './sorted-list.ts';

/** All items of one moment. */
export interface Moment<T> {
  readonly at: number;
  readonly items: T[];
  /** The items are sorted, the first one last, where removal is cheap. */
  sorted: boolean;
}

/** An item has a reference to its moment, so that it is removed without a search. */
export interface Momentary<T> {
  moment: Moment<T> | undefined;
  place: number;
}

/**
 * Items ordered by moments, and within one by `compare`. Many share a millisecond and few are ever
 * read in order, so those of a moment are sorted on the first read.
 */
export class MomentIndex<T extends Momentary<T>> {
  private readonly compare: (a: T, b: T) => number;
  private readonly moments = new SortedList<Moment<T>>(byMoment);
  /** The moment of the latest addition, which is usually that of the next. */
  private latest: Moment<T> | undefined = undefined;
  private count = 0;

  constructor(compare: (a: T, b: T) => number) {
    this.compare = compare;
  }

  get size(): number {
    return this.count;
  }

  /** The first moment with items. */
  firstAt(): number | undefined {
    return this.moments.first()?.at;
  }

  first(): T | undefined {
    const moment = this.moments.first();
    return moment === undefined ? undefined : this.#inOrder(moment).at(-1);
  }

  /** Adds an item, which is in no other such index. */
  add(item: T, at: number): void {
    const moment = this.#momentOf(at);
    const { items } = moment;
    item.moment = moment;
    item.place = items.length;
    items.push(item);
    moment.sorted = items.length === 1;
    this.count++;
  }

  /** Removes the item; false when it is not inside. */
  delete(item: T): boolean {
    const { moment, place } = item;
    if (moment?.items[place] !== item) return false;
    const last = moment.items.pop();
    if (last !== undefined && last !== item) {
      moment.items[place] = last;
      last.place = place;
      moment.sorted = false;
    }
    if (moment.items.length === 0) this.#drop(moment);
    item.moment = undefined;
    this.count--;
    return true;
  }

  has(item: T): boolean {
    const { moment, place } = item;
    return moment?.items[place] === item && this.moments.has(moment);
  }

  /** Number of items for which `isBefore` is true; they must be the first ones. */
  countWhile(isBefore: (item: T) => boolean): number {
    let before = 0;
    // Some of its items are before; whether all are is known when the next moment's are not.
    let open: readonly T[] = [];
    for (const { items } of this.moments) {
      if (!items.slice(0, 1).some(isBefore)) {
        return before + open.filter(isBefore).length + items.filter(isBefore).length;
      }
      before += open.length;
      open = items;
    }
    return before + open.filter(isBefore).length;
  }

  /** The items in order, from the one with this rank on. The index must not change meanwhile. */
  *from(rank: number): Generator<T, void, undefined> {
    let skip = rank;
    for (const moment of this.moments) {
      if (skip >= moment.items.length) {
        skip -= moment.items.length;
        continue;
      }
      yield* this.#inOrder(moment).toReversed().slice(skip);
      skip = 0;
    }
  }

  [Symbol.iterator](): Generator<T, void, undefined> {
    return this.from(0);
  }

  #momentOf(at: number): Moment<T> {
    if (this.latest?.at === at) return this.latest;
    const made: Moment<T> = { at, items: [], sorted: true };
    const moment = this.moments.find(made) ?? made;
    if (moment === made) this.moments.add(made);
    this.latest = moment;
    return moment;
  }

  #drop(moment: Moment<T>): void {
    this.moments.delete(moment);
    if (this.latest === moment) this.latest = undefined;
  }

  /** The items of a moment, the first one last. */
  #inOrder(moment: Moment<T>): readonly T[] {
    const { items } = moment;
    if (moment.sorted) return items;
    items.sort((a, b) => this.compare(b, a));
    for (const [place, item] of items.entries()) item.place = place;
    moment.sorted = true;
    return items;
  }
}

/** Orders moments. */
function byMoment(a: Moment<unknown>, b: Moment<unknown>): number {
  return a.at - b.at;
}
