/**
 * How a state of version 1 or 2 stands in a snapshot: lines of JSON. The first is the head. Then come blocks: rows of one
 * class, one column for each field; and the contents of collections that are too long for one line.
 *
 *   head    {"state":2,"classes":[["Store",["records",…]],…]}
 *   block   [class, met, rows, column, …]    the next instances: so many, of that class
 *   more    [-1, met, collection, values, keys?]
 *   end     {"instances":…,"collections":…}
 *
 * Instances are numbered in the order in which they are met first. `met` says of which classes those are that
 * the line meets, with how many of each in a row: [class, count, class, count, …].
 */

/** What an array in place of a value begins with. `undefined` is `null`; texts, numbers and booleans are themselves. */
export const VALUE = {
  /** [0] is null. */
  null: 0,
  /** A number that JSON has no text for, by name. */
  number: 1,
  /** A constant, by name. */
  named: 2,
  /** An instance: how much its number is above the one that was told last. */
  instance: 3,
  /** An array, a Map, a Set or a plain object that was there before: its number. */
  seen: 4,
  /** Values of an array. */
  list: 5,
  /** Values of an array of instances alone: as for an instance. */
  instances: 6,
  /** A Set: its values as a list. */
  set: 7,
  /** A Map: its keys and its values as lists. */
  map: 8,
  /** A Map whose keys are a field of its values: the field, and the values as a list. */
  keyed: 9,
  /** A plain object of a shape that is new: its keys, then its values. */
  shape: 10,
  /** A plain object: the number of its shape, then its values. */
  object: 11,
  /** An array, a Set or a Map that is too long: what it is, and the field of one that is keyed. */
  later: 12,
  /** Nothing in an array, not even `undefined`. */
  hole: 13,
} as const;

/** What a column begins with that is of instances, each as such a value says it. The others are as today. */
export const INSTANCES = 2;

/** In the place of the class: more of a collection. */
export const MORE = -1;
