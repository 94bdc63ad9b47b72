/**
 * How values become text. The default is strict JSON: a value that would not read back equal is
 * refused. Another codec can store more; every process that shares the tasks must use the same one.
 * All other texts of users and handlers pass it too: messages of errors, reasons, journals of runs,
 * schedules, graphs. `encrypted({ keys })` creates one that encrypts.
 */
export interface Codec {
  /**
   * An error refuses the value. `undefined` should become the empty text. Equal inputs should
   * become equal texts: a second enqueue with the same id or key is compared by text.
   */
  encode(value: unknown): string;
  /** Parses the text of `encode`; throws on any other. */
  decode(text: string): unknown;
}
