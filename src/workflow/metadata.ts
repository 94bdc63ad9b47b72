/** What a run shows of itself: a few values by key, for every reader of the run. */

/** Of one run; keys are texts of 1–128 bytes, values JSON of at most 4 KiB. */
export interface RunMetadata {
  /** The value as it is stored now; `undefined` when there is none. */
  get(key: string): Promise<unknown>;
  /**
   * Puts a value in place of the one before, at once; it stays when the handler fails.
   *
   * @throws {@link InvalidPayloadError} when JSON would change it, or it is too long;
   * {@link InvalidOptionError} for what is no key; {@link ChannelLimitError} when the run has too many
   * values, those of its channels included; {@link LeaseLostError} when another has the task now.
   */
  set(key: string, value: unknown): Promise<void>;
  /** Takes a value away. */
  delete(key: string): Promise<void>;
}
