/** Values as JSON can carry them: see `VALUE`. */
import { isPlainObject } from '../../../base/records.ts';
import { BadStateError } from './bad-state.ts';
import { type Fields, hasFields, LONG, VALUE } from './format.ts';
import { carriedOf, type KnownClass, nameOf } from './known-classes.ts';
import { Numbering } from './numbering.ts';

/** Some values of a collection; of a Map that is not keyed by a field of its values, with their keys. */
interface Slice {
  readonly items: readonly unknown[];
  readonly keys?: readonly unknown[];
}

/** A collection that is too long for the line where it was met. */
export interface Later {
  readonly number: number;
  readonly value: object;
  slices(value: object): Generator<Slice>;
}

/** The next instances of one class. */
export interface Rows {
  /** Of the class, among all. */
  readonly at: number;
  readonly known: KnownClass;
  readonly instances: readonly Fields[];
}

/** Fields by which values may be found in a Map. */
const KEYS = ['id', 'user', 'queue', 'scope', 'key', 'name'] as const;

/** Writes values, and knows what it has met: each instance and object is written once. */
export class ValueWriter {
  readonly #classes: readonly KnownClass[];
  readonly #byPrototype: ReadonlyMap<unknown, number>;
  readonly #numbers = new Numbering();
  readonly #inline = new Numbering();
  readonly #shapes = new Map<string, number>();
  /** Instances that were met and not yet written, the first one at `#next`. */
  #queue: Fields[] = [];
  #next = 0;
  readonly #later: Later[] = [];
  #collections = 0;
  /** Of the line in hand: [class, count, …]. */
  #met: number[] = [];
  /** Which instance was told last. */
  #last = 0;

  constructor(classes: readonly KnownClass[]) {
    this.#classes = classes;
    this.#byPrototype = new Map(classes.map(({ prototype }, at) => [prototype, at]));
  }

  /** How much there was. */
  get counts(): { readonly instances: number; readonly collections: number } {
    return { instances: this.#numbers.size, collections: this.#collections };
  }

  /** What the line in hand has met; the next one begins. */
  takeMet(): readonly number[] {
    const met = this.#met;
    this.#met = [];
    return met;
  }

  nextLater(): Later | undefined {
    return this.#later.shift();
  }

  /** The next instances that were met, of one class. */
  nextRows(most: number): Rows | undefined {
    const first = this.#queue[this.#next];
    if (first === undefined) return undefined;
    const prototype: unknown = Object.getPrototypeOf(first);
    const at = this.#byPrototype.get(prototype) ?? 0;
    const known = this.#classes[at];
    if (known === undefined) return undefined;
    let end = this.#next + 1;
    while (end - this.#next < most && isOf(this.#queue[end], prototype)) end++;
    const instances = this.#queue.slice(this.#next, end);
    this.#next = end;
    this.#dropWritten();
    return { at, known, instances };
  }

  /** Whether it is an instance, and no constant. */
  isInstance(value: unknown): boolean {
    if (!hasFields(value)) return false;
    return this.#byPrototype.has(Object.getPrototypeOf(value)) && nameOf(value) === undefined;
  }

  /** How much the number of an instance is above that of the one before. */
  meet(value: unknown): number {
    if (!hasFields(value)) return 0;
    const number = this.#numbers.of(value) ?? this.#enter(value);
    const step = number - this.#last;
    this.#last = number;
    return step;
  }

  value(value: unknown): unknown {
    switch (typeof value) {
      case 'undefined':
        return null;
      case 'string':
      case 'boolean':
        return value;
      case 'number':
        return isJsonNumber(value) ? value : [VALUE.number, nameOfNumber(value)];
      default:
        return value === null ? [VALUE.null] : this.#named(value);
    }
  }

  /** Values of an array, or of a collection. */
  list(values: readonly unknown[]): unknown[] {
    if (values.length > 0 && this.#areInstances(values)) {
      return [VALUE.instances, ...values.map((value) => this.meet(value))];
    }
    const list: unknown[] = [VALUE.list];
    for (let at = 0; at < values.length; at++) {
      const value = values[at];
      const isHole = value === undefined && !(at in values);
      list.push(isHole ? [VALUE.hole] : this.value(value));
    }
    return list;
  }

  /** Not one of them is missing: `every` passes over holes. */
  #areInstances(values: readonly unknown[]): boolean {
    for (let at = 0; at < values.length; at++) if (!this.isInstance(values[at])) return false;
    return true;
  }

  #named(value: unknown): unknown {
    const name = nameOf(value);
    if (name !== undefined) return [VALUE.named, name];
    if (!hasFields(value)) throw new BadStateError(`${String(value)} is not known to be stored`);
    if (this.isInstance(value)) return [VALUE.instance, this.meet(value)];
    const seen = this.#inline.of(value);
    if (seen !== undefined) return [VALUE.seen, seen];
    this.#inline.add(value);
    if (Array.isArray(value)) {
      return value.length > LONG ? this.#putOff(value, VALUE.list, slicesOfList) : this.list(value);
    }
    if (value instanceof Set) {
      if (value.size > LONG) return this.#putOff(value, VALUE.set, slicesOfSet);
      return [VALUE.set, this.list([...value])];
    }
    return value instanceof Map ? this.#map(value) : this.#object(value);
  }

  #map(map: ReadonlyMap<unknown, unknown>): unknown {
    const field = keyFieldOf(map);
    if (field !== undefined) {
      if (map.size > LONG) return this.#putOff(map, VALUE.keyed, slicesOfValues, field);
      return [VALUE.keyed, field, this.list([...map.values()])];
    }
    if (map.size > LONG) return this.#putOff(map, VALUE.map, slicesOfMap);
    return [VALUE.map, this.list([...map.keys()]), this.list([...map.values()])];
  }

  #object(value: Fields): unknown {
    if (!isPlainObject(value)) {
      throw new BadStateError(`an instance of ${nameOfClass(value)} is not known to be stored`);
    }
    const keys = Object.keys(value);
    const shape = JSON.stringify(keys);
    const known = this.#shapes.get(shape);
    const list: unknown[] = known === undefined ? [VALUE.shape, keys] : [VALUE.object, known];
    if (known === undefined) this.#shapes.set(shape, this.#shapes.size);
    for (const key of keys) list.push(this.value(carriedOf(key, value[key])));
    return list;
  }

  #putOff(
    value: object,
    what: number,
    slices: (value: object) => Generator<Slice>,
    ...field: readonly string[]
  ): unknown {
    this.#later.push({ number: this.#collections++, value, slices });
    return [VALUE.later, what, ...field];
  }

  #enter(value: Fields): number {
    const at = this.#byPrototype.get(Object.getPrototypeOf(value));
    if (at === undefined)
      throw new BadStateError('no instance of a class that is known to be stored');
    this.#queue.push(value);
    const met = this.#met;
    const latest = met.length - 2;
    if (met[latest] === at) met[latest + 1] = (met[latest + 1] ?? 0) + 1;
    else met.push(at, 1);
    return this.#numbers.add(value);
  }

  /** A queue of a million is cut now and then, not each time. */
  #dropWritten(): void {
    if (this.#next < 100_000 || this.#next * 2 < this.#queue.length) return;
    this.#queue = this.#queue.slice(this.#next);
    this.#next = 0;
  }
}

function isOf(value: Fields | undefined, prototype: unknown): boolean {
  return value !== undefined && Object.getPrototypeOf(value) === prototype;
}

function isJsonNumber(value: number): boolean {
  return Number.isFinite(value) && !Object.is(value, -0);
}

function nameOfNumber(value: number): string {
  return Object.is(value, -0) ? '-0' : String(value);
}

function nameOfClass(value: Fields): string {
  return typeof value.constructor === 'function' ? value.constructor.name : 'no class';
}

/** The field of all values that is the key of each; of none when there is none. */
function keyFieldOf(map: ReadonlyMap<unknown, unknown>): string | undefined {
  const [first] = map;
  if (first === undefined) return undefined;
  const found = KEYS.find((field) => isKeyedBy(field, first));
  if (found === undefined) return undefined;
  for (const entry of map) if (!isKeyedBy(found, entry)) return undefined;
  return found;
}

function isKeyedBy(field: string, [key, value]: readonly [unknown, unknown]): boolean {
  return typeof key === 'string' && hasFields(value) && value[field] === key;
}

function* slicesOfList(value: object): Generator<Slice> {
  if (!Array.isArray(value)) return;
  const list: readonly unknown[] = value;
  for (let at = 0; at < list.length; at += LONG) yield { items: list.slice(at, at + LONG) };
}

function* slicesOfSet(value: object): Generator<Slice> {
  if (value instanceof Set) yield* slicesOf<unknown>(value, (items) => ({ items }));
}

function* slicesOfValues(value: object): Generator<Slice> {
  if (value instanceof Map) yield* slicesOf<unknown>(value.values(), (items) => ({ items }));
}

function* slicesOfMap(value: object): Generator<Slice> {
  if (!(value instanceof Map)) return;
  yield* slicesOf<readonly [unknown, unknown]>(value, (entries) => ({
    keys: entries.map(([key]) => key),
    items: entries.map(([, item]) => item),
  }));
}

function* slicesOf<T>(values: Iterable<T>, slice: (some: readonly T[]) => Slice): Generator<Slice> {
  let some: T[] = [];
  for (const value of values) {
    some.push(value);
    if (some.length < LONG) continue;
    yield slice(some);
    some = [];
  }
  if (some.length > 0) yield slice(some);
}
