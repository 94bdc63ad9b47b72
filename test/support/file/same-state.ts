/** Whether two stores are the same: the same values, in the same order, shared by the same. */
import { deepStrictEqual } from 'node:assert/strict';
import {
  type KnownClass,
  knownClasses,
  nameOf,
} from '../../../src/backends/file/state/known-classes.ts';
import type { Store } from '../../../src/backends/memory/store/store.ts';
import { isPlainObject } from '../../../src/base/records.ts';

interface Pair {
  readonly one: unknown;
  readonly other: unknown;
  readonly path: string;
}

/** Left behind where they stand: timers, and whom to wake. */
const LEFT_KEYS = new Set(['timer', 'wake']);

/** @throws with the path of the first difference. */
export function mustBeSameState(one: Store, other: Store): void {
  const classes = knownClasses(one.clock);
  const byPrototype = new Map(classes.map((known) => [known.prototype, known]));
  const pairs = new Map<unknown, unknown>();
  const taken = new Set<unknown>();
  const left: Pair[] = [{ one, other, path: 'store' }];
  for (let pair = left.pop(); pair !== undefined; pair = left.pop()) {
    const { one: a, other: b, path } = pair;
    if (typeof a !== 'object' || a === null || nameOf(a) !== undefined) {
      if (!Object.is(a, b)) throw new Error(`${path}: ${String(a)} is ${String(b)}`);
      continue;
    }
    if (pairs.has(a)) {
      if (pairs.get(a) !== b) throw new Error(`${path}: not shared`);
      continue;
    }
    if (taken.has(b)) throw new Error(`${path}: shared`);
    pairs.set(a, b);
    taken.add(b);
    if (typeof b !== 'object' || b === null) throw new Error(`${path}: is ${String(b)}`);
    if (!isPlainObject(a) && Object.getPrototypeOf(a) !== Object.getPrototypeOf(b)) {
      throw new Error(`${path}: class`);
    }
    const known = byPrototype.get(Object.getPrototypeOf(a));
    for (const part of partsOf(a, b, { path, known })) left.push(part);
  }
}

function partsOf(
  a: object,
  b: object,
  { path, known }: { readonly path: string; readonly known: KnownClass | undefined },
): readonly Pair[] {
  if (known?.text !== undefined) {
    const texts = [known.text.write(a), known.text.write(b)];
    return [{ one: texts[0], other: texts[1], path: `${path}.text` }];
  }
  const [ours, theirs] = [contentsOf(a), contentsOf(b)];
  deepStrictEqual([...theirs.keys()], [...ours.keys()], `${path}: keys`);
  return [...ours].flatMap(([key, one]): readonly Pair[] => {
    const other = theirs.get(key);
    if (known?.left.includes(key) === true || LEFT_KEYS.has(key)) return [];
    if (known?.data.has(key) === true) {
      deepStrictEqual(other, one, `${path}.${key}`);
      return [];
    }
    return [{ one, other, path: `${path}.${key}` }];
  });
}

function contentsOf(value: object): ReadonlyMap<string, unknown> {
  if (value instanceof Map) {
    return new Map(
      [...value].flatMap(([key, item], at) => [
        [`key ${at}`, key],
        [`item ${at}`, item],
      ]),
    );
  }
  if (value instanceof Set) return new Map([...value].map((item, at) => [`item ${at}`, item]));
  const entries = Object.entries(value);
  // A field that a snapshot of before it does not have.
  return new Map(isPlainObject(value) ? entries.filter(([, item]) => item !== undefined) : entries);
}
