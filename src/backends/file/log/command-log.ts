/**
 * The log: what is appended is durable when its promise is fulfilled. Everything that is appended while the disk is
 * busy becomes the next commit, in one frame.
 */
import { monotonicMs, setImmediate } from '../../../base/globals.ts';
import type { Clock, Timer } from '../../../base/time.ts';
import { BackendFullError } from '../../../domain/errors/errors.ts';
import type { SyncMode } from '../../../domain/port/backend.ts';
import type { StepKind } from './calls.ts';
import type { Disk } from './disk.ts';
import { closeFrame, FRAME_HEAD, MOST_UNSYNCED } from './frame.ts';
import { bytesOf, type Lines, mostBytes, WaitingLines } from './lines.ts';
import { isDiskFull, LogBrokenError } from './log-broken-error.ts';
import { openSegments } from './open-segments.ts';
import type { FoundData, LogEnd } from './recovery.ts';
import { LAW } from './segment.ts';
import type { LogBytes, Segments } from './segments.ts';
import type { Full } from './space.ts';

/** How a log is opened. */
export interface LogOptions {
  /** What is there, as it was found by this owner. */
  readonly found: FoundData;
  /** Of this owner. */
  readonly epoch: number;
  /** Asked after each commit, before it is answered. */
  readonly stillOwns: () => boolean;
  /**
   * When a commit is durable. `always`: when it is on the disk, and survives a loss of power. `everyMs`: when it was handed
   * to the system, and survives the end of the process; a loss of power takes at most what came in so long.
   */
  readonly sync: SyncMode;
  readonly clock: Clock;
  /** Of each segment, in place of 1 MiB for the first and twice as many for each one after it, up to 4 MiB. */
  readonly segmentBytes?: number | undefined;
  /** What log and snapshots, those to come too, may grow to; calls that make nothing more go on above it. */
  readonly maxBytes?: number | undefined;
  /** A disk is quick if it usually syncs in such a time, in place of 1 ms; below 0 none is. */
  readonly quickMs?: number | undefined;
  readonly law?: number;
}

/** A log that is open for writing. */
export interface CommandLog {
  /** @throws {@link BackendFullError} when there is no room for the line; nothing has changed. */
  admit(line: string, kind: StepKind): void;
  /**
   * The line, given without its end, goes with the next commit; fulfilled when that is durable. The same promise for all
   * lines of one commit. @throws {@link LogBrokenError}
   */
  append(line: string): Promise<void>;
  /** Until everything appended so far is durable; `undefined` when it is. */
  readonly pending: Promise<void> | undefined;
  readonly isBroken: boolean;
  /** Fulfilled when it is broken: by a commit, or by a sync in the background. */
  readonly broken: Promise<void>;
  readonly bytes: LogBytes;
  /** What is kept for calls that end work is being used up: only a snapshot can free room. */
  readonly isLow: boolean;
  /** Fulfilled when no file is being made for lines to come; whether one was. */
  prepared(): Promise<boolean>;
  /** Where the last frame ends that was written; `undefined` when it is closed. */
  readonly written: LogEnd | undefined;
  /**
   * Answers with the number of the last commit: everything up to it is on the disk and changes no more. Where there is
   * room, the next commit begins a new segment, so that this one can be forgotten. @throws {@link LogBrokenError}
   */
  seal(): Promise<number>;
  /**
   * Removes what the two newest snapshots make unneeded: older ones, and segments that neither of them needs. Where there is
   * no room for one more beside them, what the newest one makes unneeded.
   */
  forget(): void;
  /**
   * Waits for what was appended. Nothing of the folder is open afterwards. @throws {@link LogBrokenError} when what was
   * said to be durable may not survive a loss of power.
   */
  close(): Promise<void>;
}

/**
 * Goes on behind what was found, in a segment of its own: what a former owner may still write does not count.
 *
 * @throws {@link BackendFullError} when the disk has no room for that, and any error of the file system.
 */
export async function openLog(disk: Disk, options: LogOptions): Promise<CommandLog> {
  const { found, epoch, clock, segmentBytes, maxBytes, law = LAW } = options;
  try {
    const segments = await openSegments(disk, found, { epoch, law, segmentBytes, maxBytes, clock });
    return new SegmentedLog(segments, options);
  } catch (error) {
    throw isDiskFull(error) ? new BackendFullError('open', error, FULL_TEXTS.disk) : error;
  }
}

/** What is full, as errors say it. */
const FULL_TEXTS: Readonly<Record<Full, string>> = {
  disk: 'the disk of the data folder is full',
  folder: 'the data folder has reached its maxBytes',
};

/** A quick disk usually syncs within this time, in ms: such a pause of the event loop goes unnoticed. */
const QUICK_MS = 1;

/** Of the last sync in what is usual: one that took long makes no slow disk. */
const SHARE_OF_LAST = 0.1;

/**
 * A line of up to so many characters counts as a step, of any kind: as the end of a task without a large
 * result.
 */
const SMALL = 1_024;

/** So many commits are synced in a thread once the disk is not quick. */
const SLOW_COMMITS = 100;

interface Sealing {
  readonly resolve: (number: number) => void;
  readonly reject: (error: LogBrokenError) => void;
}

class SegmentedLog implements CommandLog {
  readonly #segments: Segments;
  readonly #options: LogOptions;
  readonly #waiting = new WaitingLines();
  readonly #sealings: Sealing[] = [];
  #committing: Lines | undefined;
  /** Bytes of it that are not written yet. */
  #unwritten = 0;
  /** Number of the next frame. */
  #number: number;
  /** Number of the last frame that survives a loss of power. */
  #safe: number;
  #working: Promise<void> | undefined;
  #syncing: Promise<void> | undefined;
  #timer: Timer | undefined;
  #broken: LogBrokenError | undefined;
  readonly broken: Promise<void>;
  #fulfilBroken: () => void = () => {};
  #isClosed = false;
  /** What a sync on the spot usually takes, in ms. */
  #usualMs = 0;
  /** Commits since it was found to be too long. */
  #slow = 0;

  constructor(segments: Segments, options: LogOptions) {
    this.#segments = segments;
    this.#options = options;
    this.#number = options.found.nextNumber;
    this.#safe = this.#number - 1;
    this.broken = new Promise((resolve) => {
      this.#fulfilBroken = resolve;
    });
  }

  get pending(): Promise<void> | undefined {
    return (this.#waiting.last ?? this.#committing)?.written;
  }

  get isBroken(): boolean {
    return this.#broken !== undefined;
  }

  get bytes(): LogBytes {
    return this.#segments.bytes;
  }

  get isLow(): boolean {
    return this.#broken === undefined && this.#segments.isLow;
  }

  prepared(): Promise<boolean> {
    return this.#segments.prepared();
  }

  get written(): LogEnd | undefined {
    return this.#segments.written;
  }

  admit(line: string, called: StepKind): void {
    const isSmall = line.length <= SMALL;
    const kind = called === 'record' && isSmall ? 'step' : called;
    // One for its own frame, one for the one before it that takes no more.
    const before = this.#waiting.bytes + this.#unwritten + 2 * FRAME_HEAD;
    const full =
      this.#segments.fullFor(before + mostBytes(line), kind) &&
      this.#segments.fullFor(before + bytesOf(line), kind);
    if (full !== undefined) throw new BackendFullError('write', FULL_TEXTS[full]);
    if (kind === 'step' || (kind === 'start' && isSmall)) this.#segments.stepped(line.length);
  }

  append(line: string): Promise<void> {
    const refusal = this.#refusal();
    if (refusal !== undefined) return Promise.reject(refusal);
    const { written } = this.#waiting.add(line);
    this.#work();
    return written;
  }

  seal(): Promise<number> {
    return new Promise((resolve, reject) => {
      const refusal = this.#refusal();
      if (refusal !== undefined) return reject(refusal);
      this.#sealings.push({ resolve, reject });
      this.#work();
    });
  }

  forget(): void {
    if (this.#refusal() === undefined && this.#options.stillOwns()) this.#segments.forget();
  }

  async close(): Promise<void> {
    while (this.#working !== undefined) await this.#working;
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#timer?.cancel();
    await this.#syncing?.catch((error: unknown) => this.#break(error));
    await this.#settle().catch((error: unknown) => this.#break(error));
    await this.#segments.close(this.#broken === undefined);
    // With `always` no unsafe commit was answered.
    const isUnsafe = this.#options.sync !== 'always' && this.#safe < this.#number - 1;
    if (isUnsafe && this.#broken !== undefined) throw this.#broken;
  }

  #refusal(): LogBrokenError | undefined {
    return this.#broken ?? (this.#isClosed ? new LogBrokenError('it is closed') : undefined);
  }

  #work(): void {
    this.#working ??= this.#commitAll().catch((error: unknown) => {
      this.#break(error);
      this.#working = undefined;
    });
  }

  async #commitAll(): Promise<void> {
    for (;;) {
      // What is appended in the same turn of the event loop goes along.
      await turnOfLoop();
      if (this.#sealings.length > 0) await this.#seal();
      const lines = this.#waiting.take();
      if (lines === undefined && this.#sealings.length === 0) break;
      if (lines === undefined) continue;
      this.#committing = lines;
      await this.#commit(lines);
      this.#committing = undefined;
      lines.fulfil();
    }
    this.#working = undefined;
  }

  async #commit(lines: Lines): Promise<void> {
    this.#unwritten = lines.bytes;
    const number = this.#number;
    const isTurning = this.#segments.isFullFor(lines.bytes);
    if (isTurning || number - this.#safe > MOST_UNSYNCED) await this.#settle();
    if (isTurning) await this.#segments.turn(number, lines.bytes);
    this.#mustOwn();
    this.#segments.write(closeFrame(lines.frame, number, number - 1 - this.#safe));
    this.#number += 1;
    this.#unwritten = 0;
    this.#waiting.giveBack(lines);
    if (this.#options.sync === 'always') await this.#settleCommit();
    else this.#syncIn(this.#options.sync.everyMs);
    this.#mustOwn();
  }

  async #seal(): Promise<void> {
    await this.#settle();
    this.#mustOwn();
    await this.#segments.end(this.#number);
    for (const { resolve } of this.#sealings.splice(0)) resolve(this.#number - 1);
  }

  /** Everything that was written survives a loss of power. */
  async #settle(): Promise<void> {
    while (this.#safe < this.#number - 1) {
      if (this.#broken !== undefined) throw this.#broken;
      this.#syncing ??= this.#sync();
      await this.#syncing;
    }
  }

  /**
   * Everybody is answered sooner without a thread: to wake one takes as long as a quick disk needs. A disk that is not quick
   * is asked in a thread for a while.
   */
  async #settleCommit(): Promise<void> {
    const { quickMs = QUICK_MS } = this.#options;
    if (this.#usualMs > quickMs || this.#syncing !== undefined) {
      this.#slow = (this.#slow + 1) % SLOW_COMMITS;
      if (this.#slow === 0) this.#usualMs = 0;
      return this.#settle();
    }
    const begun = monotonicMs();
    this.#segments.syncNow();
    this.#safe = this.#number - 1;
    this.#usualMs += (monotonicMs() - begun - this.#usualMs) * SHARE_OF_LAST;
  }

  async #sync(): Promise<void> {
    const last = this.#number - 1;
    try {
      await this.#segments.sync();
      this.#safe = last;
    } finally {
      this.#syncing = undefined;
    }
  }

  #syncIn(ms: number): void {
    this.#timer ??= this.#options.clock.setTimer(ms, () => {
      this.#timer = undefined;
      this.#settle().catch((error: unknown) => this.#break(error));
    });
  }

  #mustOwn(): void {
    if (this.#broken !== undefined) throw this.#broken;
    if (!this.#options.stillOwns()) throw new LogBrokenError('another process has the data folder');
  }

  /** Stops writing: the content of the disk is unknown. */
  #break(cause: unknown): void {
    this.#broken ??= cause instanceof LogBrokenError ? cause : new LogBrokenError(cause);
    this.#fulfilBroken();
    this.#timer?.cancel();
    this.#committing?.refuse(this.#broken);
    this.#committing = undefined;
    for (let lines = this.#waiting.take(); lines !== undefined; lines = this.#waiting.take()) {
      lines.refuse(this.#broken);
    }
    for (const { reject } of this.#sealings.splice(0)) reject(this.#broken);
  }
}

function turnOfLoop(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
