/** What was changed in a log by others is said, and never read as something else. */
import { crc32 } from 'node:zlib';
import { BackendUnsupportedError, DataDamagedError } from 'fairloom';
import { beforeAll, describe, expect, it } from 'vitest';
import { openLog } from '../../../src/backends/file/log/command-log.ts';
import { closeFrame, FRAME_HEAD, frameAt } from '../../../src/backends/file/log/frame.ts';
import { keepSnapshot } from '../../../src/backends/file/log/keep-snapshot.ts';
import { findData } from '../../../src/backends/file/log/recovery.ts';
import { RESERVE } from '../../../src/backends/file/log/reserve.ts';
import { headOf, LAW } from '../../../src/backends/file/log/segment.ts';
import { ManualClock } from '../../../src/testing/manual-clock.ts';
import { FaultyDisk, randomOf } from '../../support/file/faulty-disk.ts';
import { rounds } from '../../support/rounds.ts';

type Files = ReadonlyMap<string, Buffer>;

const SEGMENT = 512;

/** Of each byte every bit, or two of them. */
const BIT_STEP = rounds(1, 4);

/** A log with one commit for each line, in segments of some commits, and where the frames of the last segment begin. */
async function logOf(count: number, epochs: readonly number[] = [1], law = LAW): Promise<Files> {
  const disk = new FaultyDisk();
  let written = 0;
  for (const epoch of epochs) {
    const log = await openLog(disk, {
      found: findData(disk, law),
      epoch,
      stillOwns: () => true,
      sync: 'always',
      clock: new ManualClock(),
      segmentBytes: SEGMENT,
      law,
    });
    for (const end = written + count; written < end; written++) await log.append(lineOf(written));
    // As a process that was killed leaves it.
  }
  return disk.afterCrash();
}

function lineOf(index: number): string {
  return `[${index},"tasks.enqueue",{"id":"t-${index}","user":"ann","input":"${'x'.repeat(index % 7)}"}]`;
}

function linesUpTo(count: number): readonly string[] {
  return Array.from({ length: count }, (_, index) => lineOf(index).trimEnd());
}

function read(files: Files): readonly string[] {
  return [...findData(new FaultyDisk(files)).linesAfter(0)];
}

/** The files with one of them changed. */
function changed(files: Files, name: string, change: (bytes: Buffer) => Buffer): Files {
  const bytes = Buffer.from(files.get(name) ?? '');
  return new Map([...files, [name, change(bytes)]]);
}

/** Lines, or the error that tells of damage. Any other error is a mistake. */
function outcome(files: Files): readonly string[] | DataDamagedError {
  try {
    return read(files);
  } catch (error) {
    if (error instanceof DataDamagedError) return error;
    throw error;
  }
}

let files: Files;
const COUNT = 24;

beforeAll(async () => {
  files = await logOf(COUNT / 2, [1, 2]);
  expect(read(files)).toEqual(linesUpTo(COUNT));
});

/** The last segment that has frames. */
function lastSegment(): { readonly name: string; readonly end: number; readonly first: number } {
  const last = findData(new FaultyDisk(files)).segments.at(-1);
  if (last === undefined) throw new Error('there is none');
  return { name: last.name, end: last.end, first: last.first };
}

/** Where the frames of a segment begin. */
function framesIn(bytes: Buffer, end: number): readonly number[] {
  const begins: number[] = [];
  for (let at = 32; at < end; at += 16 + bytes.readUInt32LE(at)) begins.push(at);
  return begins;
}

describe('a write that was broken off', () => {
  const random = randomOf(7);
  const garbage = (length: number): Buffer =>
    Buffer.from(Array.from({ length }, () => Math.floor(random() * 256)));
  const torn: Readonly<Record<string, (bytes: Buffer, at: number, end: number) => Buffer>> = {
    zeros: (bytes, at, end) => bytes.fill(0, at, end),
    garbage: (bytes, at, end) =>
      Buffer.concat([bytes.subarray(0, at), garbage(end - at), bytes.subarray(end)]),
    'the end of the file': (bytes, at) => bytes.subarray(0, at),
  };

  for (const [what, tear] of Object.entries(torn)) {
    it(`at every byte of the last three commits, then ${what}: those before it are there`, () => {
      const { name, end } = lastSegment();
      const begins = framesIn(files.get(name) ?? Buffer.alloc(0), end).slice(-3);
      let tears = 0;
      for (let at = begins[0] ?? end; at < end; at++) {
        const whole = COUNT - begins.filter((_, index) => (begins[index + 1] ?? end) > at).length;
        const found = findData(
          new FaultyDisk(changed(files, name, (bytes) => tear(bytes, at, end))),
        );
        expect(found.damage).toEqual([]);
        expect([...found.linesAfter(0)]).toEqual(linesUpTo(whole));
        expect(found.nextNumber).toBe(whole + 1);
        tears++;
      }
      expect(tears).toBeGreaterThan(150);
    });
  }

  it('with whole commits behind it is none, but damage: it says where, and how many are gone', () => {
    const { name, end } = lastSegment();
    const [, second = 0, third = 0] = framesIn(files.get(name) ?? Buffer.alloc(0), end).slice(-3);
    for (let at = second; at < third; at++) {
      const found = findData(
        new FaultyDisk(changed(files, name, (bytes) => bytes.fill(0xff, at, third))),
      );
      expect(found.damage).toEqual([
        { file: name, from: second, to: third, first: COUNT - 1, lost: 1 },
      ]);
      expect(() => [...found.linesAfter(0)]).toThrow(
        `/data is damaged: ${name}, bytes ${second} to ${third}: 1 commit is gone`,
      );
      const others = linesUpTo(COUNT).filter((_, index) => index !== COUNT - 2);
      expect([...found.linesAfter(0, { despiteDamage: true })]).toEqual(others);
    }
  });
});

it('every bit of every file the other way: lines are right, or damage is said, or it was the last commit', () => {
  const all = linesUpTo(COUNT);
  const counts = { right: 0, damage: 0, last: 0 };
  const { name: lastName, end: lastEnd } = lastSegment();
  const lastBegin = framesIn(files.get(lastName) ?? Buffer.alloc(0), lastEnd).at(-1) ?? 0;
  for (const [name, bytes] of files) {
    for (let at = 0; at < bytes.length; at++) {
      for (let bit = 0; bit < 8; bit += BIT_STEP) {
        bytes[at] = (bytes[at] ?? 0) ^ (1 << bit);
        const found = outcome(files);
        bytes[at] = (bytes[at] ?? 0) ^ (1 << bit);
        if (found instanceof DataDamagedError) counts.damage++;
        else if (found.length === COUNT) counts.right++;
        else counts.last++;
        if (found instanceof DataDamagedError) continue;
        expect(found, `${name}, byte ${at}, bit ${bit}`).toEqual(all.slice(0, found.length));
        if (found.length === COUNT) continue;
        expect(found.length).toBe(COUNT - 1);
        expect([name, at >= lastBegin]).toEqual([lastName, true]);
      }
    }
  }
  expect(counts.damage).toBeGreaterThan(10_000 / BIT_STEP);
  expect(counts.right).toBeGreaterThan(1_000 / BIT_STEP);
  expect(counts.last).toBeGreaterThan(500 / BIT_STEP);
});

describe('segments that are gone', () => {
  it('in the middle: damage, with how many commits were in it; the others can be read', () => {
    const { segments } = findData(new FaultyDisk(files));
    expect(segments.length).toBeGreaterThan(3);
    for (const [index, { name, first, last }] of segments.slice(0, -1).entries()) {
      const left = new Map([...files].filter(([other]) => other !== name));
      const found = findData(new FaultyDisk(left));
      const { name: next } = segments[index + 1] ?? { name: '' };
      expect(found.damage).toEqual([{ file: next, from: 0, to: 0, first, lost: last - first + 1 }]);
      expect(() => [...found.linesAfter(0)]).toThrow(`before ${next}: `);
      expect([...found.linesAfter(0, { despiteDamage: true })]).toEqual(
        linesUpTo(COUNT).filter((_, line) => line + 1 < first || line + 1 > last),
      );
      expect(found.damageAfter(last)).toEqual([]);
      expect([...found.linesAfter(last)]).toEqual(linesUpTo(COUNT).slice(last));
    }
  });

  it('at the end, when a snapshot tells of more: damage', () => {
    const { name, first } = lastSegment();
    const left = new Map([...files].filter(([other]) => other !== name));
    left.set('state-000000000024', Buffer.from('x'));
    const found = findData(new FaultyDisk(left));
    expect(found.damageAfter(first - 1)).toMatchObject([{ first, lost: undefined }]);
    expect(found.damageAfter(24)).toMatchObject([{ first: 25, lost: undefined }]);
    expect(() => [...found.linesAfter(24)]).toThrow('an unknown number of commits are gone');
  });

  it('that are not needed, since each snapshot has them: none', () => {
    const { segments } = findData(new FaultyDisk(files));
    const [first, second, third] = segments;
    const left = new Map(
      [...files].filter(([name]) => name !== first?.name && name !== second?.name),
    );
    left.set(`state-${String((third?.first ?? 0) - 1).padStart(12, '0')}`, Buffer.from('x'));
    expect(findData(new FaultyDisk(left)).damage).toEqual([]);
  });
});

it('a repair that stops at any operation keeps what can be read', async () => {
  const { segments } = findData(new FaultyDisk(files));
  const left = new Map([...files].filter(([name]) => name !== segments[1]?.name));
  left.set('state-000000000001', Buffer.from(linesUpTo(1).join('\n')));
  const readable = [...findData(new FaultyDisk(left)).linesAfter(0, { despiteDamage: true })];
  expect(readable.length).toBeLessThan(COUNT);
  const repair = async (disk: FaultyDisk): Promise<void> => {
    const { nextNumber } = findData(disk);
    const snapshot = await disk.create('new', 1_000);
    snapshot.close();
    disk.rename('new', `state-${String(nextNumber - 1).padStart(12, '0')}`);
    keepSnapshot(disk, nextNumber - 1);
  };
  const whole = new FaultyDisk(left);
  await repair(whole);
  for (let at = 4; at <= whole.operations.length; at++) {
    const disk = new FaultyDisk(left);
    disk.failAt(at + 1, 'crash');
    await repair(disk).catch(() => {});
    const after = new FaultyDisk(disk.afterCrash());
    const found = findData(after);
    const [newest] = found.snapshots;
    if (newest?.number === 1) continue;
    expect(newest?.number).toBe(COUNT);
    expect(found.damageAfter(COUNT)).toEqual([]);
    const options = {
      epoch: 3,
      stillOwns: () => true,
      sync: 'always',
      clock: new ManualClock(),
    } as const;
    const log = await openLog(after, { ...options, found });
    await log.append('["new"]');
    await log.close();
    expect([...findData(after).linesAfter(COUNT)]).toEqual(['["new"]']);
  }
  expect(whole.list().filter((name) => name !== RESERVE)).toEqual([
    `state-${String(COUNT).padStart(12, '0')}`,
  ]);
  expect(() => keepSnapshot(whole, 7)).toThrow('there is no snapshot 7');
});

describe('what another version wrote', () => {
  it('in another format is refused, and the format is named', async () => {
    const { name, first } = lastSegment();
    const newer = changed(files, name, (bytes) => {
      const head = headOf({ law: LAW, epoch: 1, place: 1, first });
      head.writeUInt16LE(3, 8);
      return sealed(head, bytes);
    });
    expect(() => read(newer)).toThrow(BackendUnsupportedError);
    expect(() => read(newer)).toThrow(`/data: ${name} has the format 3, this process knows 2`);
  });

  it('under another law is refused where it would be replayed, and only there', async () => {
    const other = await logOf(6, [1], 7);
    const found = findData(new FaultyDisk(other));
    expect(() => [...found.linesAfter(0)]).toThrow(BackendUnsupportedError);
    expect(() => [...found.linesAfter(5)]).toThrow('was written by another version of Fairloom');
    expect([...found.linesAfter(6)]).toEqual([]);
  });
});

/** A segment with this head, whose checksum is right. */
function sealed(head: Buffer, bytes: Buffer): Buffer {
  head.writeUInt32LE(crc32(head.subarray(16, 32), crc32(head.subarray(8, 12))), 12);
  return Buffer.concat([head, bytes.subarray(32)]);
}

it('a frame is whole, with each bit of its head, or it is none', () => {
  const frame = closeFrame(Buffer.concat([Buffer.alloc(FRAME_HEAD), Buffer.from('["a"]\n')]), 5, 2);
  expect(frameAt(frame, 0)).toMatchObject({ number: 5, unsynced: 2, end: frame.length });
  for (let bit = 0; bit < FRAME_HEAD * 8; bit++) {
    const changed = Buffer.from(frame);
    changed.writeUInt8(changed.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3);
    expect(frameAt(changed, 0), `bit ${bit}`).toBe('bad');
  }
  // Zeros alone are the end.
  expect(frameAt(Buffer.concat([Buffer.alloc(FRAME_HEAD), frame]), 0)).toBe('bad');
  expect(frameAt(Buffer.alloc(100), 0)).toBe('end');
});
