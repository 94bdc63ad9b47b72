/** Most items of one chunk: moving this many is cheaper than following pointers. */
const CHUNK = 256;

/**
 * Items in the order of `compare`, which must be total and must not change for an item while it is
 * inside. Chunks of a sorted array: O(log n) to find, a short move to insert or remove, eight bytes
 * per item, and the rank of an item at no extra cost.
 */
export class SortedList<T> {
  private readonly compare: (a: T, b: T) => number;
  private readonly chunks: T[][] = [];
  private count = 0;

  constructor(compare: (a: T, b: T) => number) {
    this.compare = compare;
  }

  get size(): number {
    return this.count;
  }

  first(): T | undefined {
    return this.chunks[0]?.[0];
  }

  last(): T | undefined {
    return this.chunks.at(-1)?.at(-1);
  }

  add(item: T): void {
    this.count++;
    const last = this.chunks[this.chunks.length - 1];
    const tail = last?.[last.length - 1];
    if (last === undefined) {
      this.chunks.push([item]);
      return;
    }
    if (tail === undefined) {
      last.push(item);
      return;
    }
    if (this.compare(tail, item) < 0) {
      if (last.length < CHUNK) last.push(item);
      else this.chunks.push([item]);
      return;
    }
    const at = this.#chunkOf(item);
    const chunk = this.chunks[at];
    if (chunk === undefined) return;
    insertAt(chunk, this.#indexIn(chunk, item), item);
    if (chunk.length > CHUNK) this.chunks.splice(at + 1, 0, chunk.splice(CHUNK >> 1));
  }

  /** Removes the item; false when it is not inside. */
  delete(item: T): boolean {
    const at = this.chunks[0]?.[0] === item ? 0 : this.#chunkOf(item);
    const chunk = this.chunks[at];
    if (chunk === undefined) return false;
    const index = chunk[0] === item ? 0 : this.#indexIn(chunk, item);
    if (chunk[index] !== item) return false;
    if (index === 0) chunk.shift();
    else removeAt(chunk, index);
    if (chunk.length === 0 && this.chunks.length > 1) this.chunks.splice(at, 1);
    this.count--;
    return true;
  }

  has(item: T): boolean {
    return this.find(item) === item;
  }

  /** The item at the place of this one. */
  find(like: T): T | undefined {
    const chunk = this.chunks[this.#chunkOf(like)];
    const found = chunk?.[this.#indexIn(chunk, like)];
    return found !== undefined && this.compare(found, like) === 0 ? found : undefined;
  }

  /** Number of items before this one, which need not be inside. */
  rank(item: T): number {
    let before = 0;
    for (const chunk of this.chunks) {
      const tail = chunk.at(-1);
      if (tail === undefined || this.compare(tail, item) >= 0) {
        return before + this.#indexIn(chunk, item);
      }
      before += chunk.length;
    }
    return before;
  }

  /** Number of items for which `isBefore` is true; they must be the first ones. */
  countWhile(isBefore: (item: T) => boolean): number {
    let before = 0;
    for (const chunk of this.chunks) {
      const tail = chunk.at(-1);
      if (tail !== undefined && isBefore(tail)) {
        before += chunk.length;
        continue;
      }
      const first = chunk.findIndex((item) => !isBefore(item));
      return before + Math.max(first, 0);
    }
    return before;
  }

  /** The items in order, from the one with this rank on. The list must not change meanwhile. */
  *from(rank: number): Generator<T, void, undefined> {
    let skip = rank;
    for (const chunk of this.chunks) {
      if (skip >= chunk.length) {
        skip -= chunk.length;
        continue;
      }
      for (let i = skip; i < chunk.length; i++) {
        const item = chunk[i];
        if (item !== undefined) yield item;
      }
      skip = 0;
    }
  }

  [Symbol.iterator](): Generator<T, void, undefined> {
    return this.from(0);
  }

  /**
   * The first chunk whose last item is not before this one, or the last chunk. Searches from the
   * end in growing steps: most additions and removals are of recent items.
   */
  #chunkOf(item: T): number {
    const chunks = this.chunks;
    let high = chunks.length - 1;
    let step = 1;
    let low = high - step;
    while (low >= 0 && this.#isAtOrBefore(item, low)) {
      high = low;
      step *= 2;
      low = high - step;
    }
    low = low < 0 ? 0 : low + 1;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#isAtOrBefore(item, middle)) high = middle;
      else low = middle + 1;
    }
    return low;
  }

  /** Whether this item is in the chunk at `at`, or in one before it. */
  #isAtOrBefore(item: T, at: number): boolean {
    const chunk = this.chunks[at];
    const tail = chunk?.[chunk.length - 1];
    return tail === undefined || this.compare(tail, item) >= 0;
  }

  #indexIn(chunk: readonly T[], item: T): number {
    let low = 0;
    let high = chunk.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      const other = chunk[middle];
      if (other !== undefined && this.compare(other, item) < 0) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

// Instead of `splice`, which allocates a list of the removed items, even for none.

function insertAt<T>(chunk: T[], index: number, item: T): void {
  let carried = item;
  for (let at = index; at < chunk.length; at++) {
    const here = chunk[at];
    if (here === undefined) break;
    chunk[at] = carried;
    carried = here;
  }
  chunk.push(carried);
}

function removeAt<T>(chunk: T[], index: number): void {
  for (let at = index + 1; at < chunk.length; at++) {
    const here = chunk[at];
    if (here !== undefined) chunk[at - 1] = here;
  }
  chunk.pop();
}
