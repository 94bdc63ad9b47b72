import type { Clock, Timer } from '../../base/time.ts';
import type { CommandLog } from './log/command-log.ts';

/** What a compactor works on. */
export interface CompactorParts {
  readonly log: CommandLog;
  /** Of the newest snapshot, as its rows are long before they are packed; 0: there is none. */
  readonly stateBytes: number;
  /** A log is left as it is until it is that long, in place of 4 MiB. */
  readonly leastLog?: number | undefined;
  /** Makes the snapshot that has everything up to this commit; answers how long its rows are. */
  readonly snapshot: (upTo: number) => Promise<number>;
  /** Makes one more commit, which changes nothing: each snapshot is after another one. */
  readonly mark: () => Promise<void>;
  /** One was made, and what it makes up for is gone. */
  readonly made: () => void;
  /** A snapshot was not made: the log grows on, and it is tried again when that is twice as long. */
  readonly failed: (error: unknown) => void;
  readonly clock: Clock;
}

/** A log is left as it is under load until it is that long: to replay it takes less than a second. */
const LEAST_LOG = 4_194_304;

/** The same while there is time, or this part of the state where that is more; looked at so many ms later. */
const LEAST_IDLE_LOG = 262_144;
const IDLE_PART = 8;
const IDLE_MS = 5_000;

/** Of the bytes of the state that a log may grow to: two packed snapshots and the log behind the older are within three times the state. */
const SHARE_OF_STATE = 0.5;

/** Room that is worth a snapshot, at most, else this part of what is taken: a log that has grown by so much, or bytes that went. */
const MOST_SPACE = 4_194_304;
const SPACE_PART = 64;

/** Of the time until a snapshot is tried once more where it has made no room; at least so many ms. */
const TIMES_AS_LONG = 10;
const LEAST_WAIT_MS = 1_000;

/** The same after one that could not be made. */
const RETRY_MS = 10_000;

/** Decides when a snapshot makes up for the log. One is made at a time. */
export class Compactor {
  readonly #parts: CompactorParts;
  #limit: number;
  /** Of the newest snapshot. */
  #stateBytes: number;
  /** Until a log that is long beside the state is compacted, also without further calls. */
  #idle: Timer | undefined;
  /** Length of the log when the newest snapshot was begun, without what that has made unneeded. */
  #before = 0;
  /** Number of the last commit that the newest one has, if it was made here. */
  #newest: number | undefined;
  /** Answers whether it was made. */
  #making: Promise<boolean> | undefined;
  #space: Promise<boolean> | undefined;
  /** Length of the log when snapshots made no room. */
  #stuck = 0;
  /** When that was, and how long nothing is tried again. */
  #waiting = { since: 0, ms: 0 };
  #isClosed = false;

  constructor(parts: CompactorParts) {
    this.#parts = parts;
    this.#stateBytes = parts.stateBytes;
    this.#limit = this.#limitOf(parts.stateBytes);
    this.look();
  }

  /** To be called when the log has grown. */
  look(): void {
    const { log } = this.#parts;
    if (log.bytes.log - this.#before >= this.#limit) void this.#begin();
    else if (this.#making === undefined && log.isLow) void this.makeSpace();
    else if (this.#idle === undefined && this.#isLong()) this.#lookLater();
  }

  /** Fulfilled when a snapshot was made, which may have made room: `true`; or none would: `false`. */
  makeSpace(): Promise<boolean> {
    this.#space ??= this.#makeSpace().finally(() => {
      this.#space = undefined;
    });
    return this.#space;
  }

  /** Fulfilled when none is being made. */
  async rest(): Promise<void> {
    await this.#making;
  }

  /** Makes no more, and rests. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#idle?.cancel();
    await this.rest();
  }

  async #makeSpace(): Promise<boolean> {
    const { log, clock } = this.#parts;
    if (this.#making !== undefined) return this.#making;
    if (!this.#isWorthIt()) return log.prepared();
    const before = log.bytes.taken;
    const begun = clock.now();
    if (!(await this.#begin())) return false;
    if (before - log.bytes.taken >= spaceOf(before)) return true;
    this.#stuck = this.#before;
    this.#wait(Math.max(LEAST_WAIT_MS, TIMES_AS_LONG * (clock.now() - begun)));
    return true;
  }

  /** Whether something has changed that a snapshot may make up for. */
  #isWorthIt(): boolean {
    const { log, clock } = this.#parts;
    const grown = log.bytes.log - this.#stuck;
    const { since, ms } = this.#waiting;
    // A clock that went back is no reason to wait for longer.
    const isEarly = Math.abs(clock.now() - since) < ms;
    return isEarly ? grown >= spaceOf(log.bytes.taken) : grown > 0;
  }

  #wait(ms: number): void {
    this.#waiting = { since: this.#parts.clock.now(), ms };
  }

  /** Long beside what is stored: to open the data would take as long for little. */
  #isLong(): boolean {
    const grown = this.#parts.log.bytes.log - this.#before;
    return grown >= Math.min(this.#limit, Math.max(LEAST_IDLE_LOG, this.#stateBytes / IDLE_PART));
  }

  #lookLater(): void {
    if (this.#isClosed) return;
    this.#idle = this.#parts.clock.setTimer(IDLE_MS, () => {
      this.#idle = undefined;
      if (this.#isLong() && this.#isWorthIt()) void this.#begin();
    });
  }

  #begin(): Promise<boolean> {
    if (this.#isClosed) return Promise.resolve(false);
    this.#making ??= this.#make().finally(() => {
      this.#making = undefined;
    });
    return this.#making;
  }

  async #make(): Promise<boolean> {
    const { log, snapshot, made, failed } = this.#parts;
    try {
      const upTo = await this.#seal();
      // It finds room where there is none beside two of before.
      log.forget();
      const sealed = log.bytes.log;
      const stateBytes = await snapshot(upTo);
      this.#newest = upTo;
      const since = log.bytes.log - sealed;
      log.forget();
      this.#stateBytes = stateBytes;
      this.#limit = this.#limitOf(stateBytes);
      this.#before = log.bytes.log - since;
      this.#stuck = Math.min(this.#stuck, this.#before);
      made();
      return true;
    } catch (error) {
      this.#limit = Math.max(this.#limit, 2 * (log.bytes.log - this.#before));
      this.#stuck = log.bytes.log;
      this.#wait(RETRY_MS);
      failed(error);
      return false;
    }
  }

  async #seal(): Promise<number> {
    const { log, mark } = this.#parts;
    const upTo = await log.seal();
    if (upTo !== this.#newest) return upTo;
    await mark();
    return log.seal();
  }

  #limitOf(stateBytes: number): number {
    return Math.max(this.#parts.leastLog ?? LEAST_LOG, stateBytes * SHARE_OF_STATE);
  }
}

/** What room is worth a snapshot where so many bytes are taken. */
function spaceOf(taken: number): number {
  return Math.min(MOST_SPACE, taken / SPACE_PART);
}
