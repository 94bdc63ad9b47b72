/** What a handler tells while it runs, chunk by chunk. */

/** A stream in the hands of the handler that writes it. */
export interface TaskStream {
  /** The task under whose id it is read: `loom.streams.read(id, name)`. */
  readonly id: string;
  /** Its name among the streams of that task. */
  readonly name: string;
  /**
   * Adds a chunk, any JSON value; fulfilled once it is stored. Chunks of one tick are stored by one call. What
   * is not awaited is stored all the same before the attempt ends; when that fails, the attempt does.
   *
   * @throws {@link InvalidPayloadError} for what cannot be stored as it is, or is longer than
   * `LIMITS.streamChunkBytes`; {@link StreamLimitError}; {@link LeaseLostError} when another attempt has the
   * task; {@link ClosedError} once it was closed, or its handler has ended.
   */
  write(chunk: unknown): Promise<void>;
  /**
   * Nothing comes any more: readers end once they have read everything. A stream that is not closed ends
   * with its task. Fulfilled once that is stored; throws as `write` does.
   */
  close(): Promise<void>;
}
