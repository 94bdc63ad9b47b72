/**
 * Frames of the log: the lines that one commit has written, in one piece. A frame is whole or it is not there: its
 * checksum is over all of it.
 *
 *   length u32 | crc32 u32 | number u48 | unsynced u16 | lines …          all little endian
 *
 * `unsynced`: how many of the frames just before it were not known to survive a loss of power when it was written; 0
 * where each is synced before the next.
 */
import { crc32 } from 'node:zlib';

/** Before the lines of a frame. */
export const FRAME_HEAD = 16;

/** The most frames that may stand unsynced before one. */
export const MOST_UNSYNCED = 0xffff;

/** A frame that was found. */
export interface Frame {
  /** From 1, one more than that of the frame before. */
  readonly number: number;
  readonly unsynced: number;
  /** Where it begins in its segment. */
  readonly at: number;
  /** Where the next one begins. */
  readonly end: number;
}

/** Makes a frame of bytes whose lines stand from `FRAME_HEAD` on. */
export function closeFrame(frame: Buffer, number: number, unsynced: number): Buffer {
  frame.writeUInt32LE(frame.length - FRAME_HEAD, 0);
  frame.writeUIntLE(number, 8, 6);
  frame.writeUInt16LE(unsynced, 14);
  frame.writeUInt32LE(checksum(frame, 0, frame.length), 4);
  return frame;
}

/** The frame that begins here; `end`: nothing was written from here on; `bad`: something else was. */
export function frameAt(segment: Buffer, at: number): Frame | 'end' | 'bad' {
  if (at + FRAME_HEAD > segment.length) return isZero(segment, at) ? 'end' : 'bad';
  const length = segment.readUInt32LE(at);
  const number = segment.readUIntLE(at + 8, 6);
  if (length === 0 || number === 0) return isZero(segment, at) ? 'end' : 'bad';
  const end = at + FRAME_HEAD + length;
  if (end > segment.length) return 'bad';
  if (segment.readUInt32LE(at + 4) !== checksum(segment, at, end)) return 'bad';
  return { number, unsynced: segment.readUInt16LE(at + 14), at, end };
}

/** The next frame behind a place that is bad, wherever it begins, with a number from and below these. */
export function frameBehind(
  segment: Buffer,
  bad: number,
  numbers: { readonly from: number; readonly below: number },
): Frame | undefined {
  const written = endOfWriting(segment);
  for (let at = bad + 1; at + FRAME_HEAD < written; at++) {
    // Nearly all places fail here, and are not looked at any closer.
    const number = segment.readUIntLE(at + 8, 6);
    if (number < numbers.from || number >= numbers.below) continue;
    const frame = frameAt(segment, at);
    if (typeof frame === 'object') return frame;
  }
  return undefined;
}

/** Of all but the checksum itself. */
function checksum(bytes: Buffer, at: number, end: number): number {
  return crc32(bytes.subarray(at + 8, end), crc32(bytes.subarray(at, at + 4)));
}

const ZEROS = Buffer.alloc(64 * 1_024);

/** Behind the last byte that is not zero. */
function endOfWriting(bytes: Buffer): number {
  let end = bytes.length;
  while (end > 0 && isZero(bytes.subarray(0, end), Math.max(0, end - ZEROS.length))) {
    end = Math.max(0, end - ZEROS.length);
  }
  while (end > 0 && bytes[end - 1] === 0) end--;
  return end;
}

/** Whether nothing stands from here on. */
function isZero(bytes: Buffer, from: number): boolean {
  for (let at = from; at < bytes.length; at += ZEROS.length) {
    const end = Math.min(bytes.length, at + ZEROS.length);
    if (bytes.compare(ZEROS, 0, end - at, at, end) !== 0) return false;
  }
  return true;
}
