import type { CommandLog } from './log/command-log.ts';

/** What a compactor works on. */
export interface CompactorParts {
  readonly log: CommandLog;
  /** Of the newest snapshot, as its rows are long before they are packed; 0: there is none. */
  readonly stateBytes: number;
  /** Makes the snapshot that has everything up to this commit; answers how long its rows are. */
  readonly snapshot: (upTo: number) => Promise<number>;
  /** A snapshot was not made: the log grows on, and it is tried again when that is twice as long. */
  readonly failed: (error: unknown) => void;
}

/** A log is left as it is until it is that long: snapshots of little cost more than they save. */
const LEAST_LOG = 16_777_216;

/** Of the bytes of the state that a log may grow to: two packed snapshots and the log behind the older are within three times the state. */
const SHARE_OF_STATE = 0.5;

/** Decides when a snapshot makes up for the log. One is made at a time. */
export class Compactor {
  readonly #parts: CompactorParts;
  #limit: number;
  /** Length of the log behind the newest snapshot when that was begun. */
  #before = 0;
  #making: Promise<void> | undefined;

  constructor(parts: CompactorParts) {
    this.#parts = parts;
    this.#limit = limitOf(parts.stateBytes);
  }

  /** To be called when the log has grown. */
  look(): void {
    if (this.#making !== undefined) return;
    if (this.#parts.log.bytes.log - this.#before < this.#limit) return;
    this.#making = this.#make().finally(() => {
      this.#making = undefined;
    });
  }

  /** Fulfilled when none is being made. */
  async rest(): Promise<void> {
    await this.#making;
  }

  async #make(): Promise<void> {
    const { log, snapshot, failed } = this.#parts;
    try {
      const stateBytes = await snapshot(await log.seal());
      log.forget();
      this.#limit = limitOf(stateBytes);
      this.#before = log.bytes.log;
    } catch (error) {
      this.#limit *= 2;
      failed(error);
    }
  }
}

function limitOf(stateBytes: number): number {
  return Math.max(LEAST_LOG, stateBytes * SHARE_OF_STATE);
}
