/** Reading a data folder: what is there, what is missing, and the lines of its log in order. */
import { BackendUnsupportedError, DataDamagedError } from '../../../domain/errors/errors.ts';
import type { Disk } from './disk.ts';
import { FRAME_HEAD, type Frame, frameBehind } from './frame.ts';
import {
  contentOf,
  headIn,
  LAW,
  LOG_FORMAT,
  SEGMENT_HEAD,
  type SegmentContent,
  type SegmentPlace,
  segmentsOf,
  withoutBrokenOff,
} from './segment.ts';

/** A snapshot file: the state after the commit of this number. */
export interface Snapshot {
  readonly name: string;
  readonly number: number;
}

const SNAPSHOT = /^state-(\d{12})$/;

/** The snapshots among these files, newest first. */
export function snapshotsOf(names: readonly string[]): readonly Snapshot[] {
  return names
    .flatMap((name) => {
      const [, digits] = SNAPSHOT.exec(name) ?? [];
      return digits === undefined ? [] : [{ name, number: Number(digits) }];
    })
    .sort((a, b) => b.number - a.number);
}

/** Commits that a data folder should have and has not. */
export interface Damage {
  /** The file where they should be. */
  readonly file: string;
  /** Its bytes, from and up to. The same number: they should be in files before it. */
  readonly from: number;
  readonly to: number;
  /** Number of the first commit that is gone; 0: what was there before the first one, which was copied into the folder. */
  readonly first: number;
  /** How many are gone; `undefined`: unknown, all behind it, or what was copied. */
  readonly lost: number | undefined;
}

/** A segment whose frames count. */
export interface FoundSegment {
  readonly name: string;
  /** Of the file. */
  readonly bytes: number;
  /** Where its last frame ends. */
  readonly end: number;
  /** Numbers of its first frame and of its last one; `first - 1` when it has none. */
  readonly first: number;
  readonly last: number;
  /** `undefined`: its head is damaged. */
  readonly law: number | undefined;
  /** Something stands behind its last frame that is none. */
  readonly isTorn: boolean;
}

/** Commits that may not be on the disk: the next owner writes them again. */
export interface Tail {
  readonly name: string;
  readonly frames: readonly Frame[];
}

/** How far a log is written that its owner goes on writing: what stands behind that may change while it is read. */
export interface LogEnd {
  /** The segment that is written. */
  readonly name: string;
  /** Where its last frame ends. */
  readonly bytes: number;
}

/** How lines are read. */
export interface LineOptions {
  /** Number of the last commit that is read. */
  readonly upTo?: number;
  /** Goes on behind commits that are gone. */
  readonly despiteDamage?: boolean;
}

/** A data folder as it was found. */
export interface FoundData {
  /** Newest first. */
  readonly snapshots: readonly Snapshot[];
  /** What the oldest snapshot does not make up for; empty unless files were changed by others, or the disk has lost something. */
  readonly damage: readonly Damage[];
  /** The number of the next commit. */
  readonly nextNumber: number;
  /** Segments whose frames count, in order. */
  readonly segments: readonly FoundSegment[];
  /** Segments that were never begun. */
  readonly empty: readonly string[];
  /** Segments of which nothing counts, since there are later ones that begin with the same number or a lower one. */
  readonly fenced: readonly string[];
  readonly tail: Tail | undefined;
  /** The damage that matters with the state after the commit of this number; `NOTHING`: without any state. */
  damageAfter(number: number): readonly Damage[];
  /**
   * The lines of all commits after the one of this number, without their ends, in order. One segment at a time is in memory.
   *
   * @throws {@link DataDamagedError} when some of them are gone; {@link BackendUnsupportedError} when one was written
   * under another law.
   */
  linesAfter(number: number, options?: LineOptions): Generator<string, void>;
}

/** No snapshot: 0 is the state that was copied into a folder, before the first commit. */
export const NOTHING: number = -1;

/** Damage, and the number of the last commit whose state needs what is gone. */
interface Hole extends Damage {
  readonly through: number;
}

/** A segment that was read. */
interface Read extends SegmentPlace {
  readonly bytes: number;
  readonly law: number | undefined;
  readonly first: number;
  readonly content: SegmentContent;
}

/**
 * Reads all segments and writes nothing. A commit that was broken off at the end is no damage: it was never
 * answered.
 *
 * @throws {@link BackendUnsupportedError} when a segment has another format.
 */
export function findData(disk: Disk, law: number = LAW, written?: LogEnd): FoundData {
  const names = disk.list();
  const snapshots = snapshotsOf(names);
  const places = writtenOf(segmentsOf(names), written);
  const bytesOf = (name: string): Buffer => writtenIn(disk.read(name), name, written);
  const { read, fenced } = readAll(disk, places, bytesOf);
  const { segments, holes, tail } = inOrder(read);
  const last = segments.at(-1);
  const newest = snapshots[0]?.number ?? 0;
  if (last !== undefined && last.last < newest) {
    holes.push({ ...endOf(last), first: last.last + 1, lost: undefined, through: Infinity });
  }
  holes.push(...copied(disk, snapshots));
  if (last === undefined) holes.push(...onlyIn(snapshots));
  const needed = new Set([...segments.map(({ name }) => name), ...fenced]);
  const damageAfter = (number: number): readonly Damage[] =>
    holes.filter(({ through }) => through > number).map((hole) => behind(hole, number));
  return {
    snapshots,
    damage: damageAfter(snapshots.at(-1)?.number ?? NOTHING),
    nextNumber: Math.max(last?.last ?? 0, newest) + 1,
    segments,
    empty: places.flatMap(({ name }) => (needed.has(name) ? [] : [name])),
    fenced,
    tail,
    damageAfter,
    linesAfter: (number, options = {}) => {
      const damage = options.despiteDamage === true ? [] : damageAfter(number);
      if (damage.length > 0) throw new DataDamagedError(disk.folder, damage.map(damageText));
      return linesOf(disk, law, { number, segments, upTo: options.upTo ?? Infinity, bytesOf });
    },
  };
}

/** Segments that were begun when the log was written so far. */
function writtenOf(
  places: readonly SegmentPlace[],
  written: LogEnd | undefined,
): readonly SegmentPlace[] {
  const last = places.findIndex(({ name }) => name === written?.name);
  return last === -1 ? places : places.slice(0, last + 1);
}

function writtenIn(bytes: Buffer, name: string, written: LogEnd | undefined): Buffer {
  return name === written?.name ? bytes.subarray(0, written.bytes) : bytes;
}

/** The part of a hole that is missing after the state of the commit of this number. */
function behind({ file, from, to, first, lost }: Hole, number: number): Damage {
  const known = Math.max(0, number + 1 - first);
  const left = lost === undefined ? lost : Math.max(0, lost - known);
  return { file, from, to, first: first + known, lost: left };
}

/** What snapshots alone have: there is no log. */
function onlyIn([newest]: readonly Snapshot[]): readonly Hole[] {
  if (newest === undefined || newest.number === 0) return [];
  const { name: file, number } = newest;
  return [{ file, from: 0, to: 0, first: 1, lost: number, through: number }];
}

/** What was there before the first commit is in its snapshot alone. */
function copied(disk: Disk, snapshots: readonly Snapshot[]): readonly Hole[] {
  const oldest = snapshots.at(-1);
  if (oldest?.number !== 0) return [];
  const { name: file } = oldest;
  return [{ file, from: 0, to: disk.size(file) ?? 0, first: 0, lost: undefined, through: 0 }];
}

/** As messages tell it. */
export function damageText({ file, from, to, first, lost }: Damage): string {
  if (first === 0) return `${file}: what was copied into the folder is gone`;
  const what = lost === 1 ? '1 commit is' : `${lost ?? 'an unknown number of'} commits are`;
  return `${from === to ? `before ${file}` : `${file}, bytes ${from} to ${to}`}: ${what} gone`;
}

function endOf({ name, end, bytes }: FoundSegment): Pick<Damage, 'file' | 'from' | 'to'> {
  return { file: name, from: end, to: bytes };
}

/** From the last to the first: how far the frames of a segment count, those behind it say. */
function readAll(
  disk: Disk,
  places: readonly SegmentPlace[],
  bytesOf: (name: string) => Buffer,
): { readonly read: readonly Read[]; readonly fenced: readonly string[] } {
  const read: Read[] = [];
  const fenced: string[] = [];
  let below = Infinity;
  for (const place of places.toReversed()) {
    const bytes = bytesOf(place.name);
    const head = headIn(bytes);
    if (typeof head === 'number') throw otherFormat(disk, place.name, head);
    if (head === 'begun') continue;
    const first = head?.first ?? firstIn(bytes, below);
    if (head !== undefined && head.first >= below) fenced.push(place.name);
    if (first === undefined || first >= below) continue;
    const content = contentOf(bytes, { from: first, below });
    read.push({ ...place, bytes: bytes.length, law: head?.law, first, content });
    // Whether a segment without a head was used is not known yet.
    if (head !== undefined) below = first;
  }
  return { read: read.reverse(), fenced };
}

/** Number of the first frame that is whole, in a segment without a head. */
function firstIn(bytes: Buffer, below: number): number | undefined {
  return frameBehind(bytes, SEGMENT_HEAD - 1, { from: 1, below })?.number;
}

function inOrder(read: readonly Read[]): {
  readonly segments: readonly FoundSegment[];
  readonly holes: Hole[];
  readonly tail: Tail | undefined;
} {
  const segments: FoundSegment[] = [];
  const holes: Hole[] = [];
  let tail: Tail | undefined;
  let next = 1;
  const lastHead = read.findLastIndex(({ law }) => law !== undefined);
  for (const [index, { name, bytes, law, first, content: all }] of read.entries()) {
    const isLast = index >= lastHead;
    const content = isLast ? withoutBrokenOff(all) : all;
    if (law === undefined && !wasUsed(content, { next, isLast })) continue;
    if (law === undefined) {
      const lost = Math.max(0, first - next);
      const to = content.frames[0]?.at ?? 0;
      holes.push({ file: name, from: 0, to, first: next, lost, through: content.last });
    } else if (first > next) {
      const lost = first - next;
      holes.push({ file: name, from: 0, to: 0, first: next, lost, through: first - 1 });
    }
    for (const gap of content.gaps.filter(({ lost }) => lost > 0)) {
      holes.push({ file: name, ...gap, through: gap.first + gap.lost - 1 });
    }
    const { end, last, isTorn } = content;
    segments.push({ name, bytes, end, first, last, law, isTorn });
    next = content.last + 1;
    const following = read.slice(index + 1).find((other) => other.law !== undefined);
    if (following !== undefined && content.isTorn && next < following.first) {
      const [lost, through] = [following.first - next, following.first - 1];
      holes.push({ file: name, from: content.end, to: bytes, first: next, lost, through });
      next = following.first;
    }
    tail = content.frames.length === 0 ? tail : { name, frames: unsure(content.frames) };
  }
  return { segments, holes, tail };
}

/** Whether the head of a segment that has none is damaged. Else its first commit was broken off. */
function wasUsed(
  { frames, last }: SegmentContent,
  { next, isLast }: { readonly next: number; readonly isLast: boolean },
): boolean {
  if (last < next) return false;
  const [first] = frames;
  const isWhole = first?.at === SEGMENT_HEAD && first.number <= next;
  return !isLast || isWhole || frames.some(({ number, unsynced }) => number - 1 - unsynced >= next);
}

/** The last frames, which are not known to survive a loss of power. */
function unsure(frames: readonly Frame[]): readonly Frame[] {
  const last = frames.at(-1);
  return last === undefined
    ? []
    : frames.filter(({ number }) => number >= last.number - last.unsynced);
}

function* linesOf(
  disk: Disk,
  law: number,
  {
    number,
    segments,
    upTo,
    bytesOf,
  }: {
    readonly number: number;
    readonly segments: readonly FoundSegment[];
    readonly upTo: number;
    readonly bytesOf: (name: string) => Buffer;
  },
): Generator<string, void> {
  let done = number;
  for (const { name, first, last, law: written } of segments) {
    if (last <= done || first > upTo) continue;
    if (written !== undefined && written !== law) throw otherLaw(disk, name);
    const bytes = bytesOf(name);
    const content = contentOf(bytes, { from: first, below: last + 1 });
    if (content.last !== last) {
      throw new DataDamagedError(disk.folder, [`${name} has changed while it was read`]);
    }
    for (const frame of content.frames) {
      if (frame.number <= done || frame.number > upTo) continue;
      done = frame.number;
      const lines = bytes.toString('utf8', frame.at + FRAME_HEAD, frame.end - 1);
      yield* lines.split('\n');
    }
  }
}

function otherFormat({ folder }: Disk, name: string, format: number): BackendUnsupportedError {
  return new BackendUnsupportedError(
    `${folder}: ${name} has the format ${format}, this process knows ${LOG_FORMAT}: update it first`,
  );
}

function otherLaw({ folder }: Disk, name: string): BackendUnsupportedError {
  return new BackendUnsupportedError(
    `${folder}: ${name} was written by another version of Fairloom, which may decide otherwise: open and close the folder with that version first`,
  );
}
