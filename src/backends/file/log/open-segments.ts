/** Opens the log: a segment of its own for a new owner, behind what was found. */
import type { Disk } from './disk.ts';
import type { Frame } from './frame.ts';
import { LogBrokenError } from './log-broken-error.ts';
import type { Beginning } from './log-parts.ts';
import { type FoundData, type FoundSegment, snapshotsOf } from './recovery.ts';
import { contentOf, SEGMENT_HEAD, segmentsOf } from './segment.ts';
import { type SegmentOptions, Segments } from './segments.ts';

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
  const beginning = unsureOf(disk, found);
  await segments.begin(beginning);
  try {
    for (const name of found.fenced) disk.remove(name);
    const left = new Set(disk.list());
    const needed = new Map(beginning.before.map(({ name, bytes }) => [name, bytes]));
    for (const { name, bytes } of found.segments) {
      const end = needed.get(name);
      if (!left.has(name)) continue;
      if (end === undefined) disk.remove(name);
      else if (bytes > end) cut(disk, name, end);
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

/**
 * Commits that may be lost with the power although they can be read now. Where they stood they are not needed any more: they
 * would take room twice.
 */
function unsureOf(disk: Disk, { tail, nextNumber, segments }: FoundData): Beginning {
  const [from] = tail?.frames ?? [];
  const last = tail?.frames.at(-1);
  const isNone = tail === undefined || from === undefined || last?.number !== nextNumber - 1;
  const first = isNone ? nextNumber : from.number;
  const before = segments
    .filter((segment) => segment.first < first)
    .map(({ name, end, first }) => ({
      name,
      first,
      bytes: isNone || name !== tail.name ? end : from.at,
    }));
  const frames = isNone ? [] : tail.frames;
  const bytes = isNone ? new Uint8Array(0) : disk.read(tail.name).subarray(from.at, last.end);
  return { first, frames: bytes, before, covered: coveredOf(disk, { segments, frames }) };
}

/** What the newest snapshot has of a segment that is needed for its other commits: of one of before, or of what is written anew. */
function coveredOf(
  disk: Disk,
  {
    segments,
    frames,
  }: { readonly segments: readonly FoundSegment[]; readonly frames: readonly Frame[] },
): Beginning['covered'] {
  const number = snapshotsOf(disk.list())[0]?.number ?? 0;
  const [from] = frames;
  if (from !== undefined && from.number <= number) {
    const end = frames.findLast((frame) => frame.number <= number)?.end ?? from.at;
    return { bytes: end - from.at };
  }
  const segment = segments.find(({ first, last }) => first <= number && number < last);
  if (segment === undefined) return {};
  const { name, first } = segment;
  const { end } = contentOf(disk.read(name), { from: first, below: number + 1 });
  return { name, bytes: end - SEGMENT_HEAD };
}
