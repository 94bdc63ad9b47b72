/** What of a log and of its snapshots is there, and how much of it is needed. */
import type { Disk } from './disk.ts';
import { snapshotsOf } from './recovery.ts';

/** A segment of before, and how much of it is needed. */
export interface Older {
  readonly name: string;
  readonly bytes: number;
  readonly first: number;
}

/** A part of a segment that has other commits as well. */
export interface PartOfSegment {
  readonly name: string;
  readonly bytes: number;
}

/** Commits, and the number of the first one, or of the next one where there is none. */
export interface Beginning {
  readonly first: number;
  readonly frames: Uint8Array;
  /** What of the log is needed beside them. */
  readonly before: readonly Older[];
  /** What the newest snapshot has of these segments, where it has not all; `undefined` as name: of the first one itself. */
  readonly covered: Partial<PartOfSegment>;
}

/** Of all of them. */
export function sum(files: readonly Older[]): number {
  return files.reduce((bytes, file) => bytes + file.bytes, 0);
}

/** Bytes of all snapshots and of the newest one; and its number, 0 where there is none. */
export interface SnapshotBytes {
  readonly all: number;
  readonly newest: number;
  readonly number: number;
}

/** Those that are there. */
export function snapshotsIn(disk: Disk): SnapshotBytes {
  const snapshots = snapshotsOf(disk.list());
  const sizes = snapshots.map(({ name }) => disk.size(name) ?? 0);
  const all = sizes.reduce((bytes, size) => bytes + size, 0);
  return { all, newest: sizes[0] ?? 0, number: snapshots[0]?.number ?? 0 };
}
