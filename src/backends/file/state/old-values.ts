/** Values of a state of version 1 or 2; see `old-format.ts`. */
import { BackendUnsupportedError } from '../../../domain/errors/errors.ts';
import { BadStateError } from './bad-state.ts';
import { type Fields, hasFields } from './format.ts';
import { constantOf } from './old-classes.ts';
import { VALUE } from './old-format.ts';

/** A class, whose instances get their fields later. */
interface Made {
  blank(): Fields;
}

/** A Map that is filled when its values have their fields, since one of these is the key. */
interface Keyed {
  readonly map: Map<unknown, unknown>;
  readonly field: string;
  readonly lists: unknown[][];
}

/** Takes more of the values of a collection. */
type Filler = (items: unknown[], keys: readonly unknown[]) => void;

/** Reads values, and knows what it has made. */
export class ValueReader {
  readonly #classes: readonly Made[];
  readonly #instances: Fields[] = [];
  /** Arrays, Maps, Sets and plain objects, in the order in which they began. */
  readonly #inline: unknown[] = [];
  readonly #shapes: Shape[] = [];
  readonly #keyed: Keyed[] = [];
  readonly #collections: Filler[] = [];
  #last = 0;

  constructor(classes: readonly Made[]) {
    this.#classes = classes;
  }

  /** How much there was. */
  get counts(): { readonly instances: number; readonly collections: number } {
    return { instances: this.#instances.length, collections: this.#collections.length };
  }

  /** Makes the instances that a line has met, as yet without fields. */
  meet(met: unknown): void {
    const pairs = listIn(met);
    for (let at = 0; at < pairs.length; at += 2) {
      const known = this.#classes[Number(pairs[at])];
      if (known === undefined) throw new BadStateError('an instance is of no class');
      for (let left = Number(pairs[at + 1]); left > 0; left--) this.#instances.push(known.blank());
    }
  }

  /** So many of them. */
  instances(first: number, count: number): readonly Fields[] {
    const found = this.#instances.slice(first, first + count);
    if (found.length !== count) throw new BadStateError('there are fewer instances than it says');
    return found;
  }

  /** More of the contents of a collection. */
  more([number, values, keys]: readonly unknown[]): void {
    const fill = this.#collections[Number(number)];
    if (fill === undefined)
      throw new BadStateError('there is more of a collection that is not there');
    const items = this.#items(values);
    fill(items, keys === undefined ? [] : this.#items(keys));
  }

  /** Puts what was found by a field of its own where it is looked for. */
  finish(): void {
    for (const { map, field, lists } of this.#keyed) {
      for (const list of lists) {
        for (const value of list) if (hasFields(value)) map.set(value[field], value);
      }
    }
  }

  /** The instance whose number is so much above that of the one before. */
  met(step: unknown): Fields {
    this.#last += Number(step);
    const found = this.#instances[this.#last];
    if (found === undefined) throw new BadStateError('an instance is not there');
    return found;
  }

  value(value: unknown): unknown {
    if (value === null) return undefined;
    return Array.isArray(value) ? this.#tagged(value) : value;
  }

  #tagged(list: readonly unknown[]): unknown {
    const [tag, one, two] = list;
    switch (tag) {
      case VALUE.null:
        return null;
      case VALUE.number:
        return Number(one);
      case VALUE.named:
        return constantOf(String(one));
      case VALUE.instance:
        return this.met(one);
      case VALUE.seen:
        return this.#seen(Number(one));
      case VALUE.list:
      case VALUE.instances:
        return this.#fill(this.#note(list.slice(1)), list);
      case VALUE.set:
        return addAll(this.#note(new Set()), () => this.#items(one));
      case VALUE.map: {
        const map = this.#note(new Map<unknown, unknown>());
        const keys = this.#items(one);
        return setAll(map, keys, this.#items(two));
      }
      case VALUE.keyed: {
        const keyed = this.#newKeyed(one);
        keyed.lists.push(this.#items(two));
        return keyed.map;
      }
      case VALUE.shape:
        this.#shapes.push(newShape(listIn(one).map(String), list.slice(2)));
        return this.#object(this.#shapes.length - 1, list);
      case VALUE.object:
        return this.#object(Number(one), list);
      case VALUE.later:
        return this.#later(one, two);
      default:
        throw new BackendUnsupportedError('the snapshot has a value of a kind that is not known');
    }
  }

  #note<T>(value: T): T {
    this.#inline.push(value);
    return value;
  }

  #seen(number: number): unknown {
    if (number < this.#inline.length) return this.#inline[number];
    throw new BadStateError('an object is not there');
  }

  #items(list: unknown): unknown[] {
    const values = listIn(list);
    return this.#fill(values.slice(1), values);
  }

  /** `into` is a copy of what it is to be filled from: so it is as compact as the values let it be. */
  #fill(into: unknown[], list: readonly unknown[]): unknown[] {
    if (list[0] === VALUE.instances) {
      for (let at = 1; at < list.length; at++) into[at - 1] = this.met(list[at]);
      return into;
    }
    for (let at = 1; at < list.length; at++) {
      const value = list[at];
      if (value === null) into[at - 1] = undefined;
      else if (!Array.isArray(value)) continue;
      else if (value[0] === VALUE.hole) delete into[at - 1];
      else into[at - 1] = this.value(value);
    }
    return into;
  }

  #newKeyed(field: unknown): Keyed {
    const map = this.#note(new Map<unknown, unknown>());
    const keyed = { map, field: String(field), lists: [] };
    this.#keyed.push(keyed);
    return keyed;
  }

  #object(number: number, list: readonly unknown[]): Fields {
    const shape = this.#shapes[number];
    if (shape === undefined) throw new BadStateError('an object has no shape');
    const made = this.#note({ ...shape.like });
    const { keys } = shape;
    for (let at = 0; at < keys.length; at++) made[keys[at] ?? ''] = this.value(list[at + 2]);
    return made;
  }

  #later(what: unknown, field: unknown): unknown {
    if (what === VALUE.list) {
      const into = this.#note<unknown[]>([]);
      this.#collections.push((items) => {
        for (const item of items) into.push(item);
      });
      return into;
    }
    if (what === VALUE.set) {
      const set = this.#note(new Set());
      this.#collections.push((items) => addAll(set, () => items));
      return set;
    }
    if (what === VALUE.map) {
      const map = this.#note(new Map<unknown, unknown>());
      this.#collections.push((items, keys) => setAll(map, keys, items));
      return map;
    }
    if (what !== VALUE.keyed) throw new BadStateError('a collection is of no kind');
    const { map, lists } = this.#newKeyed(field);
    this.#collections.push((items) => lists.push(items));
    return map;
  }
}

/** Plain objects of the same keys. */
interface Shape {
  readonly keys: readonly string[];
  /** One of them: its copies have the hidden class that objects have which the code writes out. */
  readonly like: Fields;
}

/** Of the first one: fields that have the same kind of value from the beginning are the quickest. */
function newShape(keys: readonly string[], values: readonly unknown[]): Shape {
  return { keys, like: Object.fromEntries(keys.map((key, at) => [key, kindOf(values[at])])) };
}

function kindOf(value: unknown): unknown {
  if (value === null) return undefined;
  return Array.isArray(value) ? NOTHING : value;
}

const NOTHING = {};

function listIn(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value;
  throw new BadStateError('a list is not there');
}

function addAll(set: Set<unknown>, items: () => readonly unknown[]): Set<unknown> {
  for (const item of items()) set.add(item);
  return set;
}

function setAll(
  map: Map<unknown, unknown>,
  keys: readonly unknown[],
  items: readonly unknown[],
): Map<unknown, unknown> {
  if (keys.length !== items.length) throw new BadStateError('a Map has values without keys');
  for (let at = 0; at < keys.length; at++) map.set(keys[at], items[at]);
  return map;
}
