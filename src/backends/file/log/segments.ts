/** The segments of an owner: the one that is written, the next one, which is made ahead, and those before. */
import type { Clock } from '../../../base/time.ts';
import type { StepKind } from './calls.ts';
import type { Disk } from './disk.ts';
import { isDiskFull, LogBrokenError } from './log-broken-error.ts';
import {
  type Beginning,
  type Older,
  type PartOfSegment,
  type SnapshotBytes,
  snapshotsIn,
  sum,
} from './log-parts.ts';
import { type LogEnd, snapshotsOf } from './recovery.ts';
import { COUNTS, headOf, SEGMENT_HEAD } from './segment.ts';
import { LEAST, type Made, SegmentMaker } from './segment-maker.ts';
import { type Full, type Needs, Space } from './space.ts';

/** Of the first segment of an owner; each one after it has twice as many as the one before, up to `MOST`. */
const FIRST = 1_048_576;
const MOST = 4 * FIRST;

/** Of the reserve, at most: what is kept beside it is room that the disk still has. */
const MOST_RESERVE = FIRST;

/** Of a segment that growth and results leave free, at most; else this part of it. */
const MOST_FREE = 4 * FIRST;
const FREE_PART = 4;

/** Growth takes so much of what is left for it with one segment. */
const PART_OF_LEFT = 4;

/** What calls leave free that free room, in bytes, for the notes that an owner makes by itself. */
const NOTES = 512;

/** Of lines of steps and starts: the part that is stored, at most. */
const STEP_PART = 1 / 4;

/** Of the first segment, beside what it has to have, where there is no room for more: enough for what frees some. */
const SCANT = 4_096;

/** What segments are made with. */
export interface SegmentOptions {
  readonly epoch: number;
  readonly law: number;
  readonly segmentBytes: number | undefined;
  readonly maxBytes: number | undefined;
  readonly clock: Clock;
}

/** See `CommandLog`. */
export interface LogBytes {
  /** Of the log. */
  readonly log: number;
  /** Of all files that are needed, with the room that segments have. */
  readonly folder: number;
  /** What counts against `maxBytes`. */
  readonly taken: number;
}

interface Current extends Made {
  readonly first: number;
  /** Where the next frame begins. */
  readonly at: number;
}

/** What one owner writes. */
export class Segments {
  readonly #disk: Disk;
  readonly #options: SegmentOptions;
  readonly #maker: SegmentMaker;
  readonly #space: Space;
  #older: readonly Older[];
  #olderBytes: number;
  #current: Current | undefined;
  #snapshots: SnapshotBytes;
  /** Of `olderBytes`: what the newest snapshot has as well. */
  #coveredBytes = 0;
  /** The same of the segment that has other commits as well; and where the log was sealed last. */
  #coveredPart: PartOfSegment | undefined;
  #sealed: (PartOfSegment & { readonly number: number }) | undefined;
  #isEnded = false;
  /** Of lines of steps and starts that the newest snapshot has not; and when the log was sealed last. */
  #stepBytes = 0;
  #sealedStepBytes = 0;
  /** Bytes that the disk has free, as long as nothing was written since it was asked. */
  #free: number | undefined;

  constructor(
    disk: Disk,
    options: SegmentOptions,
    { older, place }: { readonly older: readonly Older[]; readonly place: number },
  ) {
    const { epoch, clock, maxBytes, segmentBytes: most } = options;
    this.#disk = disk;
    this.#options = options;
    this.#maker = new SegmentMaker(disk, { epoch, clock, place });
    this.#space = new Space(disk, { maxBytes, clock, least: most ?? LEAST, most });
    this.#older = older;
    this.#olderBytes = sum(older);
    this.#snapshots = snapshotsIn(disk);
  }

  /** Its first segment, which counts once the head says so; and then it is durable. */
  async begin({ first, frames, before, covered }: Beginning): Promise<void> {
    const at = SEGMENT_HEAD + frames.length;
    const made = await this.#createFirst(at);
    this.#current = { ...made, first, at };
    const left = new Set(this.#older.map(({ name }) => name));
    this.#older = before.filter(({ name }) => left.has(name));
    this.#olderBytes = sum(this.#older);
    this.#coveredPart = { name: covered.name ?? made.name, bytes: covered.bytes ?? 0 };
    this.#countCovered();
    try {
      made.file.write(this.#head(made, first, true), 0);
      made.file.write(frames, SEGMENT_HEAD);
      await made.file.sync();
      made.file.write(COUNTS, 0);
      await made.file.sync();
    } catch (error) {
      made.file.close();
      throw error;
    }
  }

  /** On a disk that has no room for it, what the newest snapshot makes unneeded goes before: an owner may have died between the two. */
  async #createFirst(at: number): Promise<Made> {
    const usual = at + (this.#options.segmentBytes ?? LEAST / 2);
    const create = (needed: number, wanted = needed): Promise<Made> =>
      this.#maker.create(wanted, needed);
    const wanted = Math.max(this.#size(0), usual);
    const tries = [
      () => create(usual, wanted),
      () => {
        this.forget();
        return create(usual, wanted);
      },
      () => create(at + SCANT),
    ];
    let full: unknown;
    for (const next of tries) {
      try {
        return await next();
      } catch (error) {
        if (!isDiskFull(error)) throw error;
        full = error;
      }
    }
    throw full;
  }

  /** See `CommandLog`. */
  get bytes(): LogBytes {
    const { at, bytes } = this.#current ?? { at: 0, bytes: 0 };
    const log = this.#olderBytes + at;
    const ahead = this.#maker.next + this.#maker.reserve;
    return {
      log,
      folder: this.#olderBytes + bytes + ahead + this.#snapshots.all,
      taken: this.#snapshots.all + log,
    };
  }

  /** Where the last frame ends that was written. */
  get written(): LogEnd | undefined {
    return this.#current && { name: this.#current.name, bytes: this.#current.at };
  }

  /** With so many bytes more in the log. */
  #needs(bytes = 0): Needs {
    const { all, newest } = this.#snapshots;
    const log = this.#olderBytes + (this.#current?.at ?? 0) + bytes;
    const behind = log - this.#coveredBytes;
    const more = behind - (this.#coveredPart?.bytes ?? 0) - this.#stepBytes * (1 - STEP_PART);
    return { files: all + log, state: newest + behind, newest, more };
  }

  /** See `CommandLog`. */
  get isLow(): boolean {
    return this.#space.isLow(this.#needs());
  }

  /** A line of a step, or of a start, goes into the log. */
  stepped(bytes: number): void {
    this.#stepBytes += bytes;
  }

  /** What leaves no room for so many bytes more, with something left for those that free some; `undefined`: there is room. */
  fullFor(bytes: number, kind: StepKind): Full | undefined {
    const current = this.#current;
    if (current === undefined) return undefined;
    if (!this.#mayTake(bytes, kind)) {
      this.prepare();
      return kind === 'growth' ? this.#space.bound : 'disk';
    }
    if (this.#isAtHand(current, bytes, kind)) return undefined;
    const isFree = !this.#maker.isFull && this.#freeBytes() >= bytes + 2 * this.#size(bytes);
    if (isFree) return undefined;
    this.#free = undefined;
    this.prepare();
    return 'disk';
  }

  #mayTake(bytes: number, kind: StepKind): boolean {
    if (kind === 'step') return true;
    const needs = this.#needs(bytes);
    if (kind === 'growth') return this.#space.mayGrowTo(needs);
    const may = kind === 'start' ? this.#space.mayStart(needs) : this.#space.mayRecord(needs);
    // Where others have filled the disk, work goes on with what is there.
    return may || this.#space.isTaken(this.#needs());
  }

  /** Whether that goes into a file that is there. Of the last one, results leave a part to what frees room. */
  #isAtHand(current: Current, bytes: number, kind: StepKind): boolean {
    const [next, reserve] = [this.#maker.next - SEGMENT_HEAD, this.#maker.reserve - SEGMENT_HEAD];
    const rest = current.bytes - current.at;
    const part = Math.min(MOST_FREE, current.bytes / FREE_PART);
    if (kind === 'step') return bytes + NOTES <= Math.max(rest, next, reserve);
    if (kind === 'growth') return bytes + part <= Math.max(rest, next);
    // Who opens the folder may have to write the last of them once more.
    const twice = 2 * bytes;
    return twice + part <= rest || twice <= Math.max(next, reserve) * (1 - 1 / FREE_PART);
  }

  /** Whether a frame of so many bytes goes into the next segment. */
  isFullFor(bytes: number): boolean {
    const current = this.#current;
    return current === undefined || this.#isEnded || current.at + bytes > current.bytes;
  }

  /** Goes on in the next segment, which has room for so many bytes. Everything before has to be synced. */
  async turn(first: number, bytes: number): Promise<void> {
    const next = await this.#maker.take(this.#size(bytes), SEGMENT_HEAD + bytes);
    this.#end();
    this.#current = { ...next, first, at: SEGMENT_HEAD };
    this.#isEnded = false;
    this.#countCovered();
    next.file.write(this.#head(next, first), 0);
  }

  /** Behind what was written before. */
  write(frame: Uint8Array): void {
    const current = this.#current;
    if (current === undefined) throw new LogBrokenError('no segment is open');
    this.#free = undefined;
    current.file.write(frame, current.at);
    const at = current.at + frame.length;
    this.#current = { ...current, at };
    if (at > current.bytes / 2) this.prepare();
  }

  /** What was written survives a loss of power. */
  syncNow(): void {
    this.#current?.file.syncNow();
  }

  /** The same, in a thread. */
  async sync(): Promise<void> {
    await this.#current?.file.sync();
  }

  /** Begins to make the next segment and the reserve, if they are not there. */
  prepare(): void {
    this.#maker.prepare({ next: this.#size(0), reserve: Math.min(MOST_RESERVE, this.#space.kept) });
  }

  /** See `CommandLog`. */
  prepared(): Promise<boolean> {
    return this.#maker.made();
  }

  /** The same of the reserve alone. */
  prepareReserve(): void {
    this.#maker.prepare({ reserve: Math.min(MOST_RESERVE, this.#space.kept) });
  }

  /** The next frame goes into the next segment, if that can be made; what this one has left over is given back. */
  async end(next: number): Promise<void> {
    this.#sealedStepBytes = this.#stepBytes;
    if (this.#current === undefined || this.#current.first === next) return;
    const { name, at } = this.#current;
    this.#sealed = { number: next - 1, name, bytes: at - SEGMENT_HEAD };
    this.#isEnded = await this.#maker.ready(this.#size(0), SEGMENT_HEAD + NOTES);
    const current = this.#current;
    if (!this.#isEnded || current === undefined) return;
    current.file.cut(current.at);
    this.#current = { ...current, bytes: current.at };
  }

  /**
   * Removes snapshots but for the two newest ones, and segments that neither of these needs; where there is no room for the
   * next snapshot beside two, all but the newest one.
   */
  forget(): void {
    const [newest, older, ...others] = snapshotsOf(this.#disk.list());
    for (const { name } of others.reverse()) this.#disk.remove(name);
    if (older !== undefined) this.#forgetUpTo(older.number);
    this.#countSnapshots();
    if (newest !== undefined && this.#space.isShortFor(this.#needs())) {
      if (older !== undefined) this.#disk.remove(older.name);
      this.#forgetUpTo(newest.number);
      this.#countSnapshots();
      if (this.#space.isShortFor(this.#needs())) this.#maker.drop();
    }
    this.#free = undefined;
    this.#maker.forgetFull();
  }

  /** `isWhole`: nothing has failed, and what stands behind the last frame is given back. */
  async close(isWhole: boolean): Promise<void> {
    await this.#maker.rest();
    const current = this.#current;
    this.#current = undefined;
    try {
      this.#maker.drop();
      if (isWhole) current?.file.cut(current.at);
    } catch {
      // The next owner does it.
    } finally {
      current?.file.close();
    }
  }

  #countSnapshots(): void {
    const before = this.#snapshots.number;
    this.#snapshots = snapshotsIn(this.#disk);
    if (this.#snapshots.number !== before) {
      this.#coveredPart =
        this.#sealed?.number === this.#snapshots.number ? this.#sealed : undefined;
    }
    this.#countCovered();
    if (this.#snapshots.number === before) return;
    this.#stepBytes -= this.#sealedStepBytes;
    this.#sealedStepBytes = 0;
  }

  /** A segment that has ended since the newest snapshot was made may have nothing beside it. */
  #countCovered(): void {
    const covered = this.#upTo(this.#snapshots.number);
    this.#coveredBytes = sum(covered);
    const part = this.#coveredPart?.name;
    if (covered.some(({ name }) => name === part)) this.#coveredPart = undefined;
  }

  #forgetUpTo(number: number): void {
    const gone = this.#upTo(number);
    for (const { name } of gone) this.#disk.remove(name);
    this.#older = this.#older.slice(gone.length);
    this.#olderBytes -= sum(gone);
  }

  /** Segments that have nothing behind the commit of this number. */
  #upTo(number: number): readonly Older[] {
    const needed = this.#older.findIndex((_, index) => {
      const { first } = this.#older[index + 1] ?? this.#current ?? { first: Infinity };
      return first > number + 1;
    });
    return this.#older.slice(0, needed === -1 ? this.#older.length : needed);
  }

  #end(): void {
    const current = this.#current;
    if (current === undefined) return;
    const { name, at, first } = current;
    this.#older = [...this.#older, { name, bytes: at, first }];
    this.#olderBytes += at;
    this.#current = undefined;
    try {
      current.file.cut(at);
    } finally {
      current.file.close();
    }
  }

  /** Bytes of the next segment. */
  #size(needed: number): number {
    const { segmentBytes } = this.#options;
    const wanted = segmentBytes ?? Math.min(MOST, 2 * (this.#current?.bytes ?? FIRST / 2));
    const left = Math.max(LEAST, this.#space.left(this.#needs()) / PART_OF_LEFT);
    return Math.max(Math.floor(Math.min(wanted, left)), needed + SEGMENT_HEAD);
  }

  #head({ place }: Made, first: number, isBegun = false): Buffer {
    const { epoch, law } = this.#options;
    return headOf({ law, epoch, place, first }, isBegun);
  }

  /** A folder that cannot be asked is found out by the next commit. */
  #freeBytes(): number {
    try {
      this.#free ??= this.#disk.free();
    } catch {
      return Infinity;
    }
    return this.#free;
  }
}
