/** Metadata of a run: a few values by key that readers of the run see. */

/** Metadata of one run. Keys are texts of 1–128 bytes, values JSON of at most 4 KiB. */
export interface RunMetadata {
  /** The stored value; `undefined` without one. */
  get(key: string): Promise<unknown>;
  /**
   * Replaces a value at once; it stays when the handler fails.
   *
   * @throws {@link InvalidPayloadError} when JSON would change the value, or it is too long;
   * {@link InvalidOptionError} for an invalid key; {@link ChannelLimitError} when the run has too many
   * values, including channels; {@link LeaseLostError} when another attempt has the task.
   */
  set(key: string, value: unknown): Promise<void>;
  /** Removes a value. */
  delete(key: string): Promise<void>;
}
