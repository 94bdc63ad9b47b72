/**
 * Segments of the log: files that are made full of zeros, with a head and frames from the front. They are ordered by
 * the epoch of their owner, and within one by their place.
 *
 *   "FAIRLOOM" | format u16 | law u16 | crc32 u32 | epoch u32 | place u32 | first number u48 | zero u16
 *
 * 32 bytes, all little endian, the checksum of all behind the magic but itself. They mean the same in every format. While
 * an owner begins its first segment, the magic is "fairloom": it counts once all of it is on the disk.
 */
import { crc32 } from 'node:zlib';
import { type Frame, frameAt, frameBehind } from './frame.ts';

/** Before the first frame. */
export const SEGMENT_HEAD = 32;

/**
 * The form of segments and their lines that this code writes. It reads those from `OLDEST_FORMAT` on: in 1, each task of
 * a call was whole.
 */
export const LOG_FORMAT = 2;
const OLDEST_FORMAT = 1;

/**
 * Which decisions the engine makes. To be raised by any change after which the same calls could leave behind something
 * else: what was written under another law is not replayed.
 */
export const LAW = 5;

const MAGIC = 'FAIRLOOM';
const BEGUN = 'fairloom';

/** What makes a segment count that has a head. */
export const COUNTS: Uint8Array = Buffer.from(MAGIC);
const NAME = /^log-(\d{8})-(\d{8})$/;

/** Where a segment stands among the others. */
export interface SegmentPlace {
  readonly name: string;
  readonly epoch: number;
  readonly place: number;
}

/** `log-00000002-00000007` */
export function segmentName(epoch: number, place: number): string {
  return `log-${String(epoch).padStart(8, '0')}-${String(place).padStart(8, '0')}`;
}

/** Those of these files that are segments, in order. */
export function segmentsOf(names: readonly string[]): readonly SegmentPlace[] {
  return names
    .flatMap((name) => {
      const [, epoch, place] = NAME.exec(name) ?? [];
      return epoch === undefined ? [] : [{ name, epoch: Number(epoch), place: Number(place) }];
    })
    .sort((a, b) => a.epoch - b.epoch || a.place - b.place);
}

/** What the head of a segment says. */
export interface SegmentHead {
  readonly law: number;
  readonly epoch: number;
  readonly place: number;
  /** The number of its first frame. Frames of the segments before it count only below this. */
  readonly first: number;
}

/** Writes a head; `isBegun`: of a segment that does not count yet. */
export function headOf({ law, epoch, place, first }: SegmentHead, isBegun = false): Buffer {
  const head = Buffer.alloc(SEGMENT_HEAD);
  head.write(isBegun ? BEGUN : MAGIC);
  head.writeUInt16LE(LOG_FORMAT, 8);
  head.writeUInt16LE(law, 10);
  head.writeUInt32LE(epoch, 16);
  head.writeUInt32LE(place, 20);
  head.writeUIntLE(first, 24, 6);
  head.writeUInt32LE(checksum(head), 12);
  return head;
}

/** Reads a head. A number: it is of this other format; `begun`: see above; `undefined`: it is none, or damaged. */
export function headIn(segment: Buffer): SegmentHead | number | 'begun' | undefined {
  if (segment.length < SEGMENT_HEAD) return undefined;
  if (segment.readUInt32LE(12) !== checksum(segment)) return undefined;
  const magic = segment.toString('latin1', 0, MAGIC.length);
  if (magic === BEGUN) return 'begun';
  // The first letter of the magic was written last, when everything else was on the disk.
  if (magic.toUpperCase() !== MAGIC) return undefined;
  const format = segment.readUInt16LE(8);
  if (format < OLDEST_FORMAT || format > LOG_FORMAT) return format;
  return {
    law: segment.readUInt16LE(10),
    epoch: segment.readUInt32LE(16),
    place: segment.readUInt32LE(20),
    first: segment.readUIntLE(24, 6),
  };
}

function checksum(head: Buffer): number {
  return crc32(head.subarray(16, SEGMENT_HEAD), crc32(head.subarray(8, 12)));
}

/** Bytes between frames that are none, and the frames that should stand there. */
export interface Gap {
  readonly from: number;
  readonly to: number;
  /** Number of the first frame that is gone. */
  readonly first: number;
  /** How many are gone. */
  readonly lost: number;
}

/** What stands in a segment. */
export interface SegmentContent {
  readonly frames: readonly Frame[];
  /** In order. Frames go on behind each of them. */
  readonly gaps: readonly Gap[];
  /** Where the last frame ends. */
  readonly end: number;
  /** Number of the last frame, or one less than that of the first where there is none. */
  readonly last: number;
  /** Something stands behind the last frame that is none. */
  readonly isTorn: boolean;
}

/** Reads the frames with a number from and below these; behind a bad place it goes on with the next one that is whole. */
export function contentOf(
  segment: Buffer,
  numbers: { readonly from: number; readonly below: number },
): SegmentContent {
  const frames: Frame[] = [];
  const gaps: Gap[] = [];
  let end = SEGMENT_HEAD;
  let next = numbers.from;
  while (next < numbers.below) {
    const here = frameAt(segment, end);
    if (here === 'end') return { frames, gaps, end, last: next - 1, isTorn: false };
    // A frame is at least one byte long, so no more of them can stand behind.
    const below = Math.min(numbers.below, next + segment.length);
    const isOne = here !== 'bad' && here.number >= next && here.number < below;
    const frame = isOne ? here : frameBehind(segment, end, { from: next, below });
    if (frame === undefined) return { frames, gaps, end, last: next - 1, isTorn: true };
    if (frame.at !== end || frame.number !== next) {
      gaps.push({ from: end, to: frame.at, first: next, lost: frame.number - next });
    }
    frames.push(frame);
    ({ end } = frame);
    next = frame.number + 1;
  }
  return { frames, gaps, end, last: next - 1, isTorn: false };
}

/**
 * Of the last segment, which may end in commits that were broken off: what stood before them. A gap is one of those
 * unless a frame behind it was written when the frames of the gap were known to survive a loss of power.
 */
export function withoutBrokenOff(content: SegmentContent): SegmentContent {
  const safe = content.frames.reduce(
    (most, { number, unsynced }) => Math.max(most, number - 1 - unsynced),
    0,
  );
  const open = content.gaps.find(({ first }) => first > safe);
  if (open === undefined) return content;
  const frames = content.frames.filter(({ at }) => at < open.from);
  return {
    frames,
    gaps: content.gaps.filter(({ first }) => first <= safe),
    end: open.from,
    last: open.first - 1,
    isTorn: true,
  };
}
