/**
 * How rows stand in a snapshot: lines of JSON. The first is the head. Then come blocks: rows of one kind, one column for
 * each field. Kinds come in the order of the model.
 *
 *   head    {"state":3,"kinds":[["clock",["seen",…]],…]}
 *   block   [kind, rows, column, …]    the next rows: so many, of the kind at this place of the head
 *   end     {"rows":…}
 *
 * A value is itself; `null` is no value, `[data]` an array or an object, and `[1,"NaN"]` a number that JSON has no text for.
 */

/** Rises when what a field means changes, or one goes. A new field needs nothing: it may be absent. */
export const STATE_VERSION = 3;

/** What a column begins with. */
export const COLUMN = {
  /** One value, that of all rows. */
  same: 0,
  /** Whole numbers: how much each is above the one before. */
  numbers: 1,
  /** Texts: one that is new as it is, one that was there before by its number. */
  texts: 3,
  /** Arrays and objects: the same. */
  data: 4,
  /** Values. */
  values: 5,
} as const;

/** Most texts of a column that have a number. */
export const KNOWN_TEXTS = 1_024;

/** Most rows of a block. */
export const BLOCK_ROWS = 512;

/** Fields of any object. */
export type Fields = Record<string, unknown>;

/** Whether a value has fields; they may be written where the caller has made it. */
export function hasFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null;
}
