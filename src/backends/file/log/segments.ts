/** The segments of an owner: the one that is written, the next one, which is made ahead, and those before. */
import type { Clock } from '../../../base/time.ts';
import type { Disk } from './disk.ts';
import { isDiskFull, LogBrokenError } from './log-broken-error.ts';
import { type FoundData, type LogEnd, snapshotsOf } from './recovery.ts';
import { COUNTS, headOf, SEGMENT_HEAD, segmentsOf } from './segment.ts';
import { LEAST, type Made, SegmentMaker } from './segment-maker.ts';
import { type Needs, Space } from './space.ts';

/** Of the first segment of an owner; each one after it has twice as many as the one before, up to `MOST`. */
const FIRST = 1_048_576;
const MOST = 4 * FIRST;

/** Of the reserve, at most: what is kept beside it is room that the disk still has. */
const MOST_RESERVE = FIRST;

/** Of a segment that growth leaves free, at most; else this part of it. */
const MOST_FREE = 4 * FIRST;
const FREE_PART = 4;

/** Growth takes so much of what is left for it with one segment. */
const PART_OF_LEFT = 4;

/** What calls leave free that end work, in bytes, for the notes that an owner makes by itself. */
const NOTES = 512;

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

interface Older {
  readonly name: string;
  readonly bytes: number;
  readonly first: number;
}

/**
 * Begins a segment of its own behind what was found; commits that the disk may not have are written into it anew. What
 * it makes unneeded goes only once it is durable: a head that can be read may be lost with the power, too.
 */
export async function openSegments(
  disk: Disk,
  found: FoundData,
  options: SegmentOptions,
): Promise<Segments> {
  const older = found.segments.map(({ name, end, first }) => ({ name, bytes: end, first }));
  const last = segmentsOf(disk.list()).at(-1);
  if (last !== undefined && last.epoch > options.epoch) {
    throw new LogBrokenError('a later owner was there');
  }
  const place = last?.epoch === options.epoch ? last.place + 1 : 1;
  for (const name of found.empty) disk.remove(name);
  const segments = new Segments(disk, options, { older, place });
  await segments.begin(unsureOf(disk, found));
  try {
    for (const name of found.fenced) disk.remove(name);
    const left = new Set(disk.list());
    for (const { name, bytes, end } of found.segments) {
      if (bytes > end && left.has(name)) cut(disk, name, end);
    }
    segments.prepareReserve();
  } catch (error) {
    await segments.close(false);
    throw error;
  }
  return segments;
}

function cut(disk: Disk, name: string, bytes: number): void {
  const file = disk.open(name);
  try {
    file.cut(bytes);
  } finally {
    file.close();
  }
}

/** Commits, and the number of the first one, or of the next one where there is none. */
interface Beginning {
  readonly first: number;
  readonly frames: Uint8Array;
}

/** Commits that may be lost with the power although they can be read now. */
function unsureOf(disk: Disk, { tail, nextNumber }: FoundData): Beginning {
  const [first] = tail?.frames ?? [];
  const last = tail?.frames.at(-1);
  if (tail === undefined || first === undefined || last?.number !== nextNumber - 1) {
    return { first: nextNumber, frames: new Uint8Array(0) };
  }
  return { first: first.number, frames: disk.read(tail.name).subarray(first.at, last.end) };
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
  #isEnded = false;
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
  async begin({ first, frames }: Beginning): Promise<void> {
    const at = SEGMENT_HEAD + frames.length;
    const needed = at + (this.#options.segmentBytes ?? LEAST / 2);
    const made = await this.#createFirst(needed);
    this.#current = { ...made, first, at };
    this.#coveredBytes = sum(this.#upTo(this.#snapshots.number));
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
  async #createFirst(needed: number): Promise<Made> {
    const create = (): Promise<Made> => this.#maker.create(Math.max(this.#size(0), needed), needed);
    try {
      return await create();
    } catch (error) {
      if (!isDiskFull(error)) throw error;
      this.forget();
      return await create();
    }
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
    return { files: all + log, state: newest + log - this.#coveredBytes };
  }

  /** See `CommandLog`. */
  get isLow(): boolean {
    return this.#space.isLow(this.#needs());
  }

  /** Whether so many bytes more find room, with something left for those that make nothing more. */
  canTake(bytes: number, isGrowth: boolean): boolean {
    const current = this.#current;
    if (current === undefined) return true;
    if (isGrowth && !this.#space.mayGrowTo(this.#needs(bytes))) {
      this.prepare();
      return false;
    }
    const free = isGrowth ? Math.min(MOST_FREE, current.bytes / FREE_PART) : NOTES;
    const [next, reserve] = [this.#maker.next - SEGMENT_HEAD, this.#maker.reserve - SEGMENT_HEAD];
    const atHand = Math.max(current.bytes - current.at, next, isGrowth ? 0 : reserve);
    if (bytes + free <= atHand) return true;
    const isFree = !this.#maker.isFull && this.#freeBytes() >= bytes + 2 * this.#size(bytes);
    if (!isFree) {
      this.#free = undefined;
      this.prepare();
    }
    return isFree;
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
    if (this.#current === undefined || this.#current.first === next) return;
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
    this.#snapshots = snapshotsIn(this.#disk);
    this.#coveredBytes = sum(this.#upTo(this.#snapshots.number));
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

function sum(files: readonly Older[]): number {
  return files.reduce((bytes, file) => bytes + file.bytes, 0);
}

/** Bytes of all snapshots and of the newest one; and its number, 0 where there is none. */
interface SnapshotBytes {
  readonly all: number;
  readonly newest: number;
  readonly number: number;
}

function snapshotsIn(disk: Disk): SnapshotBytes {
  const snapshots = snapshotsOf(disk.list());
  const sizes = snapshots.map(({ name }) => disk.size(name) ?? 0);
  const all = sizes.reduce((bytes, size) => bytes + size, 0);
  return { all, newest: sizes[0] ?? 0, number: snapshots[0]?.number ?? 0 };
}
