/** Opens the log: a segment of its own for a new owner, behind what was found. */
import type { Disk } from './disk.ts';
import { LogBrokenError } from './log-broken-error.ts';
import type { FoundData } from './recovery.ts';
import { segmentsOf } from './segment.ts';
import { type Beginning, type SegmentOptions, Segments } from './segments.ts';

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

/** Commits that may be lost with the power although they can be read now. */
function unsureOf(disk: Disk, { tail, nextNumber }: FoundData): Beginning {
  const [first] = tail?.frames ?? [];
  const last = tail?.frames.at(-1);
  if (tail === undefined || first === undefined || last?.number !== nextNumber - 1) {
    return { first: nextNumber, frames: new Uint8Array(0) };
  }
  return { first: first.number, frames: disk.read(tail.name).subarray(first.at, last.end) };
}
