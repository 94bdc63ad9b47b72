/**
 * Snapshots: the state after one commit, as a file that is whole or is not there.
 *
 *   "FAIRSTAT" | format u16 | law u16 | crc32 u32 | number u48 | zero u16
 *   length u32 | length unpacked u32 | crc32 u32 | lines, packed by deflate          many times
 *   0 u32 | count u32 | crc32 u32                                                    the end
 *
 * All little endian. Each checksum goes on from the one before, so that no part can be missing, or stand in the place of
 * another. The head means the same in every format.
 */
import { promisify } from 'node:util';
import { crc32, deflateRaw, inflateRaw } from 'node:zlib';
import { messageOf } from '../../../base/message-of.ts';
import { BackendUnsupportedError } from '../../../domain/errors/errors.ts';
import type { Store } from '../../memory/store/store.ts';
import type { Disk } from '../log/disk.ts';
import { LAW } from '../log/segment.ts';
import { StateReader } from './state-reader.ts';

/** The layout that this code writes; it reads no other. */
const FORMAT = 1;

const MAGIC = Buffer.from('FAIRSTAT');

const HEAD = 24;

const CHUNK_HEAD = 12;

/** Fast: what is written is mostly the same again and again. */
const LEVEL = 1;

const pack = promisify(deflateRaw);
const unpack = promisify(inflateRaw);

/** A snapshot cannot be read: another program has changed the file, or the disk has lost something of it. */
export class BadSnapshotError extends Error {
  /** The name of the class. */
  override readonly name = 'BadSnapshotError';
}

/** `state-000000001234` */
export function snapshotName(number: number): string {
  return `state-${String(number).padStart(12, '0')}`;
}

/** Of a file that was not finished. */
const PART = '.part';

/** Before the name of a snapshot that cannot be read. */
export const BAD = 'bad-';

/** Names of snapshots that are not finished, or cannot be read; another snapshot makes them useless. */
export function partsOfSnapshots(names: readonly string[]): readonly string[] {
  return names.filter((name) => /^(?:state-\d{12}\.part|bad-state-\d{12})$/.test(name));
}

/** Removes those that were not finished: on a full disk they take the room of what is needed. */
export function removeUnfinished(disk: Disk): void {
  for (const name of disk.list()) if (UNFINISHED.test(name)) disk.remove(name);
}

const UNFINISHED = /^state-\d{12}\.part$/;

/** The state after the commit of a number: its lines, and under which law they came to be. */
interface NewSnapshot {
  readonly number: number;
  readonly chunks: Iterable<string>;
  readonly law?: number;
}

/** Answers how long it is unpacked, in bytes. @throws what the disk says; then there is no snapshot of this number. */
export async function writeSnapshot(
  disk: Disk,
  { number, chunks, law = LAW }: NewSnapshot,
): Promise<number> {
  const name = snapshotName(number);
  const part = name + PART;
  disk.remove(part);
  const file = await disk.create(part, 0);
  let at = 0;
  const put = (bytes: Uint8Array): void => {
    file.write(bytes, at);
    at += bytes.length;
  };
  let length = 0;
  try {
    const head = headOf(number, law);
    put(head);
    let sum = crc32(head);
    let count = 0;
    let before: Promise<Packed> | undefined;
    const putPacked = ({ bytes, unpacked }: Packed): void => {
      sum = putChunk(put, sum, { bytes, second: unpacked });
      length += unpacked;
      count++;
    };
    for (const chunk of chunks) {
      // The next one is made while this one is packed.
      const packed = packedOf(chunk);
      if (before !== undefined) putPacked(await before);
      before = packed;
    }
    if (before !== undefined) putPacked(await before);
    putChunk(put, sum, { bytes: NOTHING, second: count });
    await file.sync();
  } catch (error) {
    file.close();
    disk.remove(part);
    throw error;
  }
  file.close();
  disk.rename(part, name);
  return length;
}

interface Packed {
  readonly bytes: Uint8Array;
  readonly unpacked: number;
}

const NOTHING = new Uint8Array(0);

async function packedOf(text: string): Promise<Packed> {
  const bytes = Buffer.from(text);
  return { bytes: await pack(bytes, { level: LEVEL }), unpacked: bytes.length };
}

function headOf(number: number, law: number): Buffer {
  const head = Buffer.alloc(HEAD);
  MAGIC.copy(head);
  head.writeUInt16LE(FORMAT, 8);
  head.writeUInt16LE(law, 10);
  head.writeUIntLE(number, 16, 6);
  head.writeUInt32LE(sumOfHead(head), 12);
  return head;
}

function sumOfHead(head: Buffer): number {
  return crc32(head.subarray(16, HEAD), crc32(head.subarray(0, 12)));
}

function putChunk(
  put: (bytes: Uint8Array) => void,
  before: number,
  { bytes, second }: { readonly bytes: Uint8Array; readonly second: number },
): number {
  const head = Buffer.alloc(CHUNK_HEAD);
  head.writeUInt32LE(bytes.length, 0);
  head.writeUInt32LE(second, 4);
  const sum = sumOf(bytes, crc32(head.subarray(0, 8), before));
  head.writeUInt32LE(sum, 8);
  put(head);
  put(bytes);
  return sum;
}

/** Node's `crc32` returns 0 for no bytes, once their buffer was accessed. */
function sumOf(bytes: Uint8Array, before: number): number {
  return bytes.length === 0 ? before : crc32(bytes, before);
}

/** What was read of a snapshot. */
export interface ReadSnapshot {
  readonly store: Store;
  /** How long its lines are. */
  readonly stateBytes: number;
}

/**
 * Tells an empty store what a snapshot tells.
 *
 * @throws BadSnapshotError · BackendUnsupportedError when it has another format · what the disk says. A state says
 * nothing of how it came about, so it is read under any law.
 */
export async function readSnapshot(disk: Disk, name: string, store: Store): Promise<ReadSnapshot> {
  const bytes = disk.read(name);
  const fail = (reason: string, cause?: unknown): BadSnapshotError =>
    new BadSnapshotError(`${disk.folder}: ${name}: ${reason}`, { cause });
  checkHead(bytes, name, fail);
  const reader = new StateReader(store);
  let stateBytes = 0;
  for (const { packed, length } of chunksIn(bytes, fail)) {
    try {
      const text = await unpack(packed, { maxOutputLength: length + 1 });
      if (text.length !== length) throw fail('a part of it has another length than it says');
      reader.add(text.toString());
    } catch (error) {
      throw known(error) ? error : fail(messageOf(error), error);
    }
    stateBytes += length;
  }
  try {
    return { store: reader.end(), stateBytes };
  } catch (error) {
    throw known(error) ? error : fail(messageOf(error), error);
  }
}

const UNSUPPORTED: BackendUnsupportedError['code'] = 'BACKEND_UNSUPPORTED';

function known(error: unknown): boolean {
  return error instanceof BadSnapshotError || Reflect.get(Object(error), 'code') === UNSUPPORTED;
}

type Fail = (reason: string) => BadSnapshotError;

function checkHead(bytes: Buffer, name: string, fail: Fail): void {
  if (bytes.length < HEAD || !bytes.subarray(0, MAGIC.length).equals(MAGIC)) {
    throw fail('it does not begin as a snapshot');
  }
  if (bytes.readUInt32LE(12) !== sumOfHead(bytes)) throw fail('its head is damaged');
  const format = bytes.readUInt16LE(8);
  if (format !== FORMAT) {
    throw new BackendUnsupportedError(
      `${name} was written by another version of Fairloom (format ${format}; this one reads format ${FORMAT})`,
    );
  }
  if (snapshotName(bytes.readUIntLE(16, 6)) !== name)
    throw fail('it is the state of another commit');
}

/** @yields its parts, each of which is whole; the last one is followed by the end. */
function* chunksIn(
  bytes: Buffer,
  fail: Fail,
): Generator<{ readonly packed: Buffer; readonly length: number }> {
  let sum = crc32(bytes.subarray(0, HEAD));
  let count = 0;
  for (let at = HEAD; ; ) {
    if (at + CHUNK_HEAD > bytes.length) throw fail('its end is missing');
    const packed = bytes.subarray(at + CHUNK_HEAD, at + CHUNK_HEAD + bytes.readUInt32LE(at));
    sum = sumOf(packed, crc32(bytes.subarray(at, at + 8), sum));
    if (bytes.readUInt32LE(at + 8) !== sum) throw fail(`it is damaged behind byte ${at}`);
    const length = bytes.readUInt32LE(at + 4);
    at += CHUNK_HEAD + packed.length;
    if (packed.length === 0) {
      if (length !== count || at !== bytes.length) throw fail('its end is not where it should be');
      return;
    }
    count++;
    yield { packed, length };
  }
}
