/** How much of its disk a data folder may take, and how much of that is kept for calls that end work and free room. */
import type { Clock } from '../../../base/time.ts';
import type { Disk } from './disk.ts';
import { snapshotsOf } from './recovery.ts';
import { RESERVE } from './reserve.ts';
import { segmentsOf } from './segment.ts';

/** What is kept for such calls, at most, in bytes; else this part of all that the folder may take. */
const MOST_KEPT = 4_194_304;
const KEPT_PART = 16;

/** Of what is kept: what starts of tasks and what these have come to leave. */
const KEPT_FROM_STARTS = 1 / 4;
const KEPT_FROM_RECORDS = 1 / 8;

/** So long the answer of the disk counts where it is enough, in ms. */
const ASKED_MS = 1_000;

/** A snapshot that is not whole yet. */
const PART = /^state-\d{12}\.part$/;

/** What a folder needs; each is at most so many bytes. */
export interface Needs {
  /** Snapshots and log as they are. */
  readonly files: number;
  /** The newest snapshot and the log behind it: what must not go, and what the next snapshot comes to. */
  readonly state: number;
  /** What the next snapshot has more than the newest one, as far as that is known: of lines of steps only a part is kept. */
  readonly more: number;
  /** The newest snapshot. */
  readonly newest: number;
}

/** What is full: the disk, or the folder by its `maxBytes`. */
export type Full = 'disk' | 'folder';

/** Of what space is made. */
export interface SpaceOptions {
  readonly maxBytes: number | undefined;
  readonly clock: Clock;
  /** The least segment that can be made. */
  readonly least: number;
  /** The most that is kept, in place of 4 MiB. */
  readonly most: number | undefined;
}

/** The room of one data folder. */
export class Space {
  readonly #disk: Disk;
  readonly #options: SpaceOptions;
  /** What the folder may take in all, when that was asked last. */
  #capacity = Infinity;
  /** The same, but for `maxBytes`: what the disk has for it. */
  #onDisk = Infinity;
  #askedAt: number | undefined;

  constructor(disk: Disk, options: SpaceOptions) {
    this.#disk = disk;
    this.#options = options;
  }

  /** What is kept for calls that end work and free room. None on a disk that has not even room for some segments. */
  get kept(): number {
    if (this.#askedAt === undefined) this.#ask();
    const { least, most = MOST_KEPT } = this.#options;
    const kept = Math.floor(Math.min(most, this.#capacity / KEPT_PART));
    return kept < least ? 0 : kept;
  }

  /** What bounds growth. */
  get bound(): Full {
    return this.#capacity < this.#onDisk ? 'folder' : 'disk';
  }

  /** Whether growth may make it so: room is left for the next snapshot, and for what ends work, before and while it is made. */
  mayGrowTo(needs: Needs): boolean {
    return this.#isWithin(() => need(needs) + 2 * this.kept);
  }

  /** Whether a task may be started: there is room for its end, too. */
  mayStart(needs: Needs): boolean {
    return this.#leaves(needs, KEPT_FROM_STARTS);
  }

  /**
   * Whether the outcome of a task may be stored: the rest of the reserve is for opening, and for steps that
   * free room.
   */
  mayRecord(needs: Needs): boolean {
    return this.#leaves(needs, KEPT_FROM_RECORDS);
  }

  /** Others have taken what the next snapshot needs: there is nothing left to be kept for it. */
  isTaken(needs: Needs): boolean {
    return likelyNeed(needs) > this.#onDisk + this.kept;
  }

  /** What ends work has used up a part of what is kept for it: a snapshot has to free room. */
  isLow(needs: Needs): boolean {
    return !this.#isWithin(() => need(needs) + this.kept);
  }

  /** Whether there is no room for the next snapshot beside all that is there. */
  isShortFor({ state }: Needs): boolean {
    this.#ask();
    return this.#filesOrNone() + state + 2 * this.kept > this.#capacity;
  }

  /** What growth may still take before the next snapshot; below 0: more than there is. */
  left(needs: Needs): number {
    return this.#capacity - need(needs) - 2 * this.kept;
  }

  #isWithin(needed: () => number): boolean {
    return this.#isIn(() => this.#capacity, needed);
  }

  /** Whether so much of what is kept stays; as long as the disk has that, `maxBytes` holds nothing but growth. */
  #leaves(needs: Needs, part: number): boolean {
    if (this.kept === 0) return true;
    return this.#isIn(
      () => this.#onDisk,
      () => likelyNeed(needs) + part * this.kept,
    );
  }

  /** An answer that is not enough is asked for anew: room may have become free. */
  #isIn(most: () => number, needed: () => number): boolean {
    const now = this.#options.clock.now();
    // A clock that went back is no reason to wait for longer.
    const isFresh = this.#askedAt !== undefined && Math.abs(now - this.#askedAt) < ASKED_MS;
    if (isFresh && needed() <= most()) return true;
    this.#ask();
    return needed() <= most();
  }

  #ask(): void {
    const { maxBytes = Infinity, clock } = this.#options;
    this.#askedAt = clock.now();
    try {
      this.#onDisk = this.#files() + this.#disk.free();
    } catch {
      // A folder that cannot be asked is found out by the next commit.
      this.#onDisk = Infinity;
    }
    this.#capacity = Math.min(maxBytes, this.#onDisk);
  }

  #filesOrNone(): number {
    try {
      return this.#files();
    } catch {
      return 0;
    }
  }

  /** Bytes of all files that the disk has given to the data. */
  #files(): number {
    const names = this.#disk.list();
    const others = names.filter((name) => name === RESERVE || PART.test(name));
    const data = [...snapshotsOf(names), ...segmentsOf(names)].map(({ name }) => name);
    return [...data, ...others].reduce((sum, name) => sum + (this.#disk.size(name) ?? 0), 0);
  }
}

/** All that is there; or the newest snapshot, the log behind it, and the next snapshot. */
function likelyNeed({ files, state, newest, more }: Needs): number {
  return Math.max(files, state + newest + more);
}

/** All that is there; or what is needed of it beside the next snapshot, for which the rest goes. */
function need({ files, state }: Needs): number {
  return Math.max(files, 2 * state);
}
