/**
 * How values become text. The default is strict JSON: a value that would come back changed is refused. Another
 * codec lifts that; every process that shares the tasks must use the same one. All other texts of users and
 * handlers go through it too: messages of errors, reasons, journals of runs, schedules, graphs.
 * `encrypted({ keys })` makes one that encrypts.
 */
export interface Codec {
  /**
   * May throw: the value is refused then. `undefined` should become the empty text. Equal inputs should
   * become equal texts: a second enqueue with the same id or key is told from another task by that.
   */
  encode(value: unknown): string;
  /** Reads what `encode` wrote; throws on anything else. */
  decode(text: string): unknown;
}
