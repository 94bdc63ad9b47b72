/** Output that a handler writes while it runs, in chunks. */

/** A stream, as its writing handler sees it. */
export interface TaskStream {
  /** Id of the task for its readers: `loom.streams.read(id, name)`. */
  readonly id: string;
  /** Its name among the streams of that task. */
  readonly name: string;
  /**
   * Adds a chunk, any JSON value; resolves when it is stored. Chunks of one tick are stored by one call. The
   * attempt stores chunks that were not awaited before it ends; if that fails, the attempt fails.
   *
   * @throws {@link InvalidPayloadError} for a value that JSON would change, or longer than
   * `LIMITS.streamChunkBytes`; {@link StreamLimitError}; {@link LeaseLostError} when another attempt has the
   * task; {@link ClosedError} after `close`, or after its handler has ended.
   */
  write(chunk: unknown): Promise<void>;
  /**
   * Closes the stream: readers end after its last chunk. A stream that is not closed ends with its task.
   * Resolves when that is stored; throws as `write` does.
   */
  close(): Promise<void>;
}
