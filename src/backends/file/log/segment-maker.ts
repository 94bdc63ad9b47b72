/** Makes the files of segments: ahead of need, as small as the disk has room for, and out of the reserve where it has none. */
import type { Clock } from '../../../base/time.ts';
import type { Disk, DiskFile } from './disk.ts';
import { isDiskFull } from './log-broken-error.ts';
import { Reserve } from './reserve.ts';
import { segmentName } from './segment.ts';

/** Of a segment when the disk has no room for more. */
export const LEAST = 65_536;

/** So long nothing is made again once the disk was full. */
const RETRY_MS = 1_000;

/** A file for a segment, full of zeros. */
export interface Made {
  readonly name: string;
  readonly place: number;
  readonly file: DiskFile;
  readonly bytes: number;
}

/** What files are made with. */
export interface MakerOptions {
  readonly epoch: number;
  readonly clock: Clock;
  /** Of the first segment that is made. */
  readonly place: number;
}

/** What is made ahead. */
export interface Ahead {
  /** Bytes of the next segment; absent: none is made ahead. */
  readonly next?: number;
  /** Of the reserve. */
  readonly reserve: number;
}

/** See above. */
export class SegmentMaker {
  readonly #disk: Disk;
  readonly #options: MakerOptions;
  readonly #reserve: Reserve;
  #place: number;
  #next: Made | undefined;
  #making: Promise<void> | undefined;
  #fullSince: number | undefined;

  constructor(disk: Disk, options: MakerOptions) {
    this.#disk = disk;
    this.#options = options;
    this.#reserve = new Reserve(disk);
    this.#place = options.place;
  }

  /** Of the segment that is made ahead; 0: there is none. */
  get next(): number {
    return this.#next?.bytes ?? 0;
  }

  /** Of the reserve. */
  get reserve(): number {
    return this.#reserve.bytes;
  }

  /** The disk had no room when something was made last. */
  get isFull(): boolean {
    return this.#fullSince !== undefined;
  }

  /** Room may have become free. */
  forgetFull(): void {
    this.#fullSince = undefined;
  }

  /** Begins to make what is missing. */
  prepare(ahead: Ahead): void {
    const isThere = ahead.next === undefined || this.#next !== undefined;
    if (this.#making !== undefined || (isThere && this.#reserve.bytes * 2 >= ahead.reserve)) return;
    const now = this.#options.clock.now();
    // A clock that went back is no reason to wait for longer.
    if (this.#fullSince !== undefined && Math.abs(now - this.#fullSince) < RETRY_MS) return;
    this.#making = this.#make(ahead);
  }

  /** Fulfilled when nothing is being made; whether something was that was missing. */
  async made(): Promise<boolean> {
    if (this.#making === undefined) return false;
    await this.#making;
    return !this.isFull;
  }

  /** Nothing is being made. */
  async rest(): Promise<void> {
    await this.#making;
  }

  /** Makes the next segment now, also on a disk that was full; answers whether there is one. */
  async ready(bytes: number, needed: number): Promise<boolean> {
    await this.#making;
    try {
      this.#next ??= await this.create(bytes, needed);
    } catch {
      this.#fullSince = this.#options.clock.now();
    }
    return this.#next !== undefined;
  }

  /** The next segment, of at least so many bytes. @throws what the disk says when it has no room for that. */
  async take(wanted: number, needed: number): Promise<Made> {
    await this.#making;
    if (this.next < needed) this.drop();
    const next = this.#next ?? (await this.create(wanted, needed));
    this.#next = undefined;
    return next;
  }

  /** With as few bytes as it needs when the disk has no room for more; out of the reserve when it has none at all. */
  async create(wanted: number, needed: number): Promise<Made> {
    const least = Math.max(LEAST, needed);
    const sizes = least < wanted ? [wanted, least] : [Math.max(wanted, needed)];
    let full: unknown;
    for (const bytes of sizes) {
      try {
        return await this.#createOf(bytes);
      } catch (error) {
        if (!isDiskFull(error)) throw error;
        full = error;
      }
    }
    if (this.#reserve.bytes < needed) throw full;
    this.#fullSince = this.#options.clock.now();
    const place = this.#place++;
    const name = segmentName(this.#options.epoch, place);
    return { name, place, ...this.#reserve.use(name) };
  }

  /** The segment that was made ahead is not needed. */
  drop(): void {
    const next = this.#next;
    if (next === undefined) return;
    this.#next = undefined;
    next.file.close();
    this.#disk.remove(next.name);
  }

  async #make({ next, reserve }: Ahead): Promise<void> {
    try {
      if (next !== undefined) this.#next ??= await this.#smaller(next);
      await this.#reserve.make(reserve);
      this.#fullSince = undefined;
    } catch {
      // It is made when it is needed; that call then gets the error.
      this.#fullSince = this.#options.clock.now();
    }
    this.#making = undefined;
  }

  /** What is made ahead leaves the reserve alone. */
  async #smaller(bytes: number): Promise<Made> {
    try {
      return await this.#createOf(bytes);
    } catch (error) {
      if (!isDiskFull(error) || LEAST >= bytes) throw error;
      return await this.#createOf(LEAST);
    }
  }

  async #createOf(bytes: number): Promise<Made> {
    const place = this.#place++;
    const name = segmentName(this.#options.epoch, place);
    return { name, place, file: await this.#disk.create(name, bytes), bytes };
  }
}
