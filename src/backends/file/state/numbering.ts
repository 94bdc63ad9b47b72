/** More do not go into one Map. */
const MOST = 2 ** 23;

/** Objects, and which numbers they have: from 0 on, in the order in which they came. */
export class Numbering {
  readonly #parts: Map<object, number>[] = [new Map()];
  size = 0;

  of(value: object): number | undefined {
    for (const part of this.#parts) {
      const number = part.get(value);
      if (number !== undefined) return number;
    }
    return undefined;
  }

  add(value: object): number {
    let part = this.#parts.at(-1);
    if (part === undefined || part.size >= MOST) {
      part = new Map();
      this.#parts.push(part);
    }
    part.set(value, this.size);
    return this.size++;
  }
}
