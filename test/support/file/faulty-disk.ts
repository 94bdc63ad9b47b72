/** A disk in memory, with a cache that a power cut takes, and faults at any of its operations. */

import type { Disk, DiskFile } from '../../../src/backends/file/log/disk.ts';
import { SeededRandom } from '../../chaos/seeded-random.ts';

/** What is written, or lost, as one piece. */
const SECTOR = 512;

/** What an operation comes to, in place of what it should; `full`: there is no room from then on. */
export type Fault = 'EIO' | 'ENOSPC' | 'short' | 'full' | 'crash';

/** Numbers from 0 up to 1, the same for the same seed. */
export function randomOf(seed: number): () => number {
  const chance = new SeededRandom(seed);
  return () => chance.next();
}

/** The error of the file system with this code. */
function diskError(code: string): Error {
  return Object.assign(new Error(`${code}: on purpose`), { code });
}

/** One file: as it is read, as the disk has it, and what it may have of each sector. */
class Contents {
  now: Buffer;
  safe: Buffer;
  readonly unsynced = new Map<number, Buffer[]>();

  constructor(bytes: Buffer) {
    this.now = Buffer.from(bytes);
    this.safe = Buffer.from(bytes);
  }

  write(bytes: Uint8Array, at: number): void {
    const end = at + bytes.length;
    if (end > this.now.length) this.now = grown(this.now, end);
    this.now.set(bytes, at);
    for (let from = at - (at % SECTOR); from < end; from += SECTOR) {
      const versions = this.unsynced.get(from) ?? [];
      versions.push(Buffer.from(this.now.subarray(from, from + SECTOR)));
      this.unsynced.set(from, versions);
    }
  }

  /** What was written until now, for `keep`. */
  written(): ReadonlyMap<number, number> {
    return new Map([...this.unsynced].map(([at, versions]) => [at, versions.length]));
  }

  keep(written: ReadonlyMap<number, number>): void {
    for (const [at, count] of written) {
      const versions = this.unsynced.get(at)?.splice(0, count) ?? [];
      const last = versions.at(-1);
      if (last !== undefined) this.#toDisk(at, last);
      if (this.unsynced.get(at)?.length === 0) this.unsynced.delete(at);
    }
  }

  /** As Linux has it: what could not be written is read from now on as if it had been. */
  forget(): void {
    this.unsynced.clear();
  }

  cut(bytes: number): void {
    this.now = Buffer.from(this.now.subarray(0, bytes));
    this.safe = Buffer.from(this.safe.subarray(0, bytes));
    for (const at of [...this.unsynced.keys()]) if (at >= bytes) this.unsynced.delete(at);
  }

  /** What the disk has when the power goes: of each sector what it had, or anything that was written since. */
  afterPowerCut(choose: (versions: number) => number): Buffer {
    const left = new Contents(this.safe);
    for (const [at, versions] of this.unsynced) {
      const kept = versions[choose(versions.length) - 1];
      if (kept !== undefined) left.#toDisk(at, kept, this.now.length);
    }
    return left.safe;
  }

  #toDisk(at: number, sector: Buffer, size: number = this.now.length): void {
    const end = Math.min(size, at + sector.length);
    if (end > this.safe.length) this.safe = grown(this.safe, end);
    sector.copy(this.safe, at, 0, end - at);
  }
}

function grown(bytes: Buffer, size: number): Buffer {
  return Buffer.concat([bytes], size);
}

/** A new name that the disk may not know. */
interface Renamed {
  readonly from: string;
  /** What had this name before. */
  readonly replaced: Contents | undefined;
}

/** How it is set up. */
export interface FaultyDiskOptions {
  /** Bytes of all files together. */
  readonly capacity?: number;
  readonly seed?: number;
}

/** See above. Its operations are numbered from 1. */
export class FaultyDisk implements Disk {
  readonly folder = '/data';
  readonly #files: Map<string, Contents>;
  /** Removed, though the disk may not know yet. */
  readonly #removed = new Map<string, Contents>();
  /** Made, though the disk may not know yet. */
  readonly #made = new Set<string>();
  /** By their new name, what may have the old one still: to sync that failed. */
  readonly #renamed = new Map<string, Renamed>();
  readonly #faults = new Map<number, Fault>();
  readonly #random: () => number;
  readonly capacity: { bytes: number };
  /** What each operation was. */
  readonly operations: string[] = [];
  #isDown = false;
  #openFiles = 0;

  constructor(
    files: ReadonlyMap<string, Buffer> = new Map(),
    { capacity = Infinity, seed = 1 }: FaultyDiskOptions = {},
  ) {
    this.#files = new Map([...files].map(([name, bytes]) => [name, new Contents(bytes)]));
    this.#random = randomOf(seed);
    this.capacity = { bytes: capacity };
  }

  /** The operation of this number fails; `crash`: and so does every one after it. */
  failAt(operation: number, fault: Fault): void {
    this.#faults.set(operation, fault);
  }

  /** No operation fails any more, unless there was a crash. */
  heal(): void {
    this.#faults.clear();
  }

  /** Files that are not closed. */
  get openFiles(): number {
    return this.#openFiles;
  }

  /** Whether there was a crash. */
  get isDown(): boolean {
    return this.#isDown;
  }

  /** Every operation fails from now on. */
  crash(): void {
    this.#isDown = true;
  }

  /** What the next process finds: everything that was written. */
  afterCrash(): ReadonlyMap<string, Buffer> {
    return new Map([...this.#files].map(([name, { now }]) => [name, Buffer.from(now)]));
  }

  /** What it finds after a power cut. */
  afterPowerCut(seed: number): ReadonlyMap<string, Buffer> {
    const random = randomOf(seed);
    // Nothing of what was not synced, all of it, and anything between.
    const choose = (versions: number): number => {
      if (seed % 4 === 0) return 0;
      if (seed % 4 === 1) return versions;
      return Math.floor(random() * (versions + 1));
    };
    const left = new Map(
      [...this.#files].map(([name, file]) => [name, file.afterPowerCut(choose)] as const),
    );
    for (const name of this.#made) if (random() < 0.5) left.delete(name);
    for (const [to, { from, replaced }] of this.#renamed) {
      const file = left.get(to);
      if (file === undefined || random() < 0.5) continue;
      left.set(from, file);
      left.delete(to);
      if (replaced !== undefined) left.set(to, Buffer.from(replaced.safe));
    }
    for (const [name, { safe }] of this.#removed) {
      if (!left.has(name) && random() < 0.5) left.set(name, Buffer.from(safe));
    }
    return left;
  }

  list(): readonly string[] {
    this.#next('list');
    return [...this.#files.keys()];
  }

  size(name: string): number | undefined {
    this.#next(`size ${name}`);
    return this.#files.get(name)?.now.length;
  }

  read(name: string): Buffer {
    this.#next(`read ${name}`);
    return Buffer.from(this.#file(name).now);
  }

  async create(name: string, bytes: number): Promise<DiskFile> {
    this.#next(`create ${name}`);
    if (this.#files.has(name)) throw diskError('EEXIST');
    if (this.#used() + bytes > this.capacity.bytes) throw diskError('ENOSPC');
    // As far as it has come when the process ends.
    const file = new Contents(Buffer.alloc(Math.floor(this.#random() * bytes)));
    this.#files.set(name, file);
    this.#made.add(name);
    await turnOfLoop();
    try {
      this.#next(`fill ${name}`);
    } catch (error) {
      if (!this.#isDown) {
        this.#files.delete(name);
        this.#made.delete(name);
      }
      throw error;
    }
    this.#made.delete(name);
    this.#renamed.clear();
    [file.now, file.safe] = [grown(file.now, bytes), grown(file.safe, bytes)];
    return this.#handle(name, file);
  }

  open(name: string): DiskFile {
    this.#next(`open ${name}`);
    return this.#handle(name, this.#file(name));
  }

  rename(from: string, to: string): void {
    const file = this.#file(from);
    const rename = (): void => {
      this.#files.set(to, file);
      this.#files.delete(from);
    };
    this.#next(`rename ${from}`, () => {
      if (this.#random() < 0.5) return;
      this.#renamed.set(to, { from, replaced: this.#files.get(to) });
      rename();
    });
    rename();
    this.#removed.clear();
    this.#renamed.clear();
  }

  remove(name: string): void {
    this.#next(`remove ${name}`);
    const file = this.#files.get(name);
    if (file !== undefined) this.#removed.set(name, file);
    this.#files.delete(name);
  }

  free(): number {
    this.#next('free');
    return this.capacity.bytes - this.#used();
  }

  #used(): number {
    return [...this.#files.values()].reduce((sum, { now }) => sum + now.length, 0);
  }

  #file(name: string): Contents {
    const file = this.#files.get(name);
    if (file === undefined) throw diskError('ENOENT');
    return file;
  }

  #handle(name: string, file: Contents): DiskFile {
    let isOpen = true;
    this.#openFiles++;
    const check = (): void => {
      if (!isOpen) throw diskError('EBADF');
    };
    const sync = (written: ReadonlyMap<number, number>): void => {
      check();
      this.#next(`sync ${name}`, () => {
        if (!this.#isDown) file.forget();
      });
      file.keep(written);
    };
    return {
      write: (bytes, at) => {
        check();
        this.#next(`write ${name}`, () => {
          file.write(bytes.subarray(0, Math.floor(this.#random() * bytes.length)), at);
        });
        const growth = Math.max(0, at + bytes.length - file.now.length);
        if (this.#used() + growth > this.capacity.bytes) throw diskError('ENOSPC');
        file.write(bytes, at);
      },
      sync: async () => {
        check();
        const written = file.written();
        await turnOfLoop();
        sync(written);
      },
      syncNow: () => sync(file.written()),
      cut: (bytes) => {
        check();
        this.#next(`cut ${name}`);
        file.cut(bytes);
      },
      close: () => {
        check();
        isOpen = false;
        this.#openFiles--;
      },
    };
  }

  /** `failing`: what an operation has done when it fails. */
  #next(what: string, failing: () => void = () => {}): void {
    if (this.#isDown) throw diskError('EIO');
    this.operations.push(what);
    const fault = this.#faults.get(this.operations.length);
    if (fault === undefined) return;
    if (fault === 'full') {
      this.capacity.bytes = Math.min(this.capacity.bytes, this.#used());
      return;
    }
    if (fault === 'crash') this.#isDown = true;
    failing();
    throw diskError(fault === 'short' || fault === 'ENOSPC' ? 'ENOSPC' : 'EIO');
  }
}

function turnOfLoop(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** The same disk, but that files which are made on it are as this says. */
export function withFiles(disk: Disk, change: (file: DiskFile) => DiskFile): Disk {
  return {
    folder: disk.folder,
    list: () => disk.list(),
    size: (name) => disk.size(name),
    read: (name) => disk.read(name),
    open: (name) => disk.open(name),
    rename: (from, to) => disk.rename(from, to),
    remove: (name) => disk.remove(name),
    free: () => disk.free(),
    create: async (name, bytes) => change(await disk.create(name, bytes)),
  };
}
