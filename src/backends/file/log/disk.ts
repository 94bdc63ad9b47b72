/** All that log and snapshots do with files, in as few calls as it takes: so that a test can make each of them fail. */
import {
  close,
  closeSync,
  fdatasync,
  fdatasyncSync,
  fsync,
  fsyncSync,
  ftruncateSync,
  open,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statfsSync,
  statSync,
  write,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';

/** One file that is written to. */
export interface DiskFile {
  /** All of it, at this place. @throws the file system's error; how much was written is unknown then. */
  write(bytes: Uint8Array, at: number): void;
  /** What was written survives a loss of power. */
  sync(): Promise<void>;
  /** The same, while everything else of this thread stands still. */
  syncNow(): void;
  /** The file ends here. */
  cut(bytes: number): void;
  close(): void;
}

/** The files of one folder. */
export interface Disk {
  /** The folder, for messages. */
  readonly folder: string;
  /** Names of all files, in no given order. */
  list(): readonly string[];
  /** Bytes of a file; `undefined`: it is not there. */
  size(name: string): number | undefined;
  read(name: string): Buffer;
  /**
   * A new file of this size, full of zeros that survive a loss of power, so that to write in it moves no end of a file.
   * When it fails there is no such file. @throws when there is a file of this name.
   */
  create(name: string, bytes: number): Promise<DiskFile>;
  /** A file that is there. */
  open(name: string): DiskFile;
  /** The new name survives a loss of power. */
  rename(from: string, to: string): void;
  /** Nothing happens when it is not there. It may come back after a loss of power. */
  remove(name: string): void;
  /** Bytes that can still be written. */
  free(): number;
}

/** For the owner of the process alone: what tasks carry may be secret. */
const MODE = 0o600;

/** A file is filled in pieces of this size, each of which is on the disk before the next: commits find gaps between them. */
const ZEROS = new Uint8Array(1_048_576);

const openFile = promisify(open);
const closeFile = promisify(close);
const syncData = promisify(fdatasync);
const syncAll = promisify(fsync);
const writePart = promisify(write);

/** A folder of the file system. */
export function diskIn(folder: string): Disk {
  const pathOf = (name: string): string => join(folder, name);
  return {
    folder,
    list: () => readdirSync(folder),
    size: (name) => statSync(pathOf(name), { throwIfNoEntry: false })?.size,
    read: (name) => readFileSync(pathOf(name)),
    create: async (name, bytes) => {
      const descriptor = await openFile(pathOf(name), 'wx', MODE);
      try {
        await fill(descriptor, bytes);
        await syncFolder(folder);
      } catch (error) {
        await closeFile(descriptor);
        rmSync(pathOf(name), { force: true });
        throw error;
      }
      return fileOf(descriptor);
    },
    open: (name) => fileOf(openSync(pathOf(name), 'r+')),
    rename: (from, to) => {
      renameSync(pathOf(from), pathOf(to));
      syncFolderNow(folder);
    },
    remove: (name) => rmSync(pathOf(name), { force: true }),
    free: () => {
      const { bavail, bsize } = statfsSync(folder);
      return bavail * bsize;
    },
  };
}

function fileOf(descriptor: number): DiskFile {
  return {
    write: (bytes, at) => writeAll(descriptor, bytes, at),
    sync: () => syncData(descriptor),
    syncNow: () => fdatasyncSync(descriptor),
    cut: (bytes) => ftruncateSync(descriptor, bytes),
    close: () => closeSync(descriptor),
  };
}

async function fill(descriptor: number, bytes: number): Promise<void> {
  for (let at = 0; at < bytes; ) {
    const { bytesWritten } = await writePart(
      descriptor,
      ZEROS,
      0,
      Math.min(ZEROS.length, bytes - at),
      at,
    );
    await syncData(descriptor);
    at += bytesWritten;
  }
  await syncAll(descriptor);
}

/** The disk may take a part of what it is given, and say so only by a number. */
function writeAll(descriptor: number, bytes: Uint8Array, at: number): void {
  for (let done = 0; done < bytes.length; ) {
    done += writeSync(descriptor, bytes, done, bytes.length - done, at + done);
  }
}

/** Names survive a loss of power when their folder was synced. */
async function syncFolder(folder: string): Promise<void> {
  const descriptor = await openFile(folder, 'r');
  try {
    await syncAll(descriptor);
  } finally {
    await closeFile(descriptor);
  }
}

/** The same, and nothing else happens meanwhile. */
export function syncFolderNow(folder: string): void {
  const descriptor = openSync(folder, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
