/** When what was answered survives a loss of power: before it is answered, or so long after it at the latest. */
export type SyncMode = 'always' | SyncInterval;

/** How long it may take until what was answered is on the disk. */
export interface SyncInterval {
  /** In ms, from 1 to 60,000. */
  readonly everyMs: number;
}

/** Differences between backends that matter to a caller, as data. */
export interface Capabilities {
  /**
   * Tasks outlive a crash of what keeps them: of this process, or of the server. Of Redis it is what the server does now, as it
   * last told: it appends each call to its file, and could. False until it has told.
   */
  readonly durable: boolean;
  /** Other processes see the same tasks. */
  readonly shared: boolean;
  /**
   * When it puts them on the disk; absent where it has none, or another program decides that. Where several processes share
   * a data folder its owner decides: what is asked for here counts until it is open, and then what the owner does.
   */
  readonly sync?: SyncMode;
}
