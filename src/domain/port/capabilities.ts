/** When an answered write survives a loss of power: before the answer, or this long after it at the latest. */
export type SyncMode = 'always' | SyncInterval;

/** Longest time between an answer and its sync to disk. */
export interface SyncInterval {
  /** In ms, from 1 to 60,000. */
  readonly everyMs: number;
}

/** Differences between backends that matter to callers. */
export interface Capabilities {
  /**
   * Tasks survive a crash of the process or server that stores them. On Redis: the server appends each call to its
   * file, and its last append succeeded; false until the server has said so.
   */
  readonly durable: boolean;
  /** Other processes see the same tasks. */
  readonly shared: boolean;
  /**
   * When writes are synced to disk; absent without a disk, or where another program decides. In a data folder that
   * several processes share, the setting of its owner applies once it is open.
   */
  readonly sync?: SyncMode;
}
