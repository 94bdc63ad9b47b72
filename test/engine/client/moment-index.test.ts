import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Moment, MomentIndex } from '../../../src/backends/memory/store/moment-index.ts';

class Item {
  readonly name: number;
  at = 0;
  moment: Moment<Item> | undefined = undefined;
  place = 0;

  constructor(name: number) {
    this.name = name;
  }
}

const byName = (a: Item, b: Item): number => a.name - b.name;
const inOrder = (a: Item, b: Item): number => a.at - b.at || byName(a, b);

/** `at` puts an item in, in place of where it stood; without it the item is taken out. */
const moves = fc.array(
  fc.record({
    name: fc.nat(30),
    at: fc.option(fc.nat(2), { nil: undefined }),
    look: fc.boolean(),
  }),
  { minLength: 40, maxLength: 120 },
);

describe('the index by moments', () => {
  it('holds what was put in, in order, after any removals and looks', () => {
    fc.assert(
      fc.property(moves, (steps) => {
        const items = Array.from({ length: 31 }, (_, name) => new Item(name));
        const index = new MomentIndex<Item>(byName);
        const inside = new Set<Item>();
        for (const { name, at, look } of steps) {
          const item = items[name];
          if (item === undefined) continue;
          expect(index.delete(item)).toBe(inside.delete(item));
          if (at !== undefined) {
            item.at = at;
            index.add(item, at);
            inside.add(item);
          }
          const sorted = [...inside].sort(inOrder);
          expect(index.size).toBe(sorted.length);
          expect(index.firstAt()).toBe(sorted[0]?.at);
          if (look) expect(index.first()).toBe(sorted[0]);
        }
        const sorted = [...inside].sort(inOrder);
        for (const item of items) expect(index.has(item)).toBe(inside.has(item));
        for (let rank = 0; rank <= sorted.length; rank++) {
          const [edge] = sorted.slice(rank);
          const isBefore = (item: Item): boolean => edge === undefined || inOrder(item, edge) < 0;
          expect(index.countWhile(isBefore)).toBe(rank);
          expect([...index.from(rank)]).toEqual(sorted.slice(rank));
        }
      }),
    );
  });
});
