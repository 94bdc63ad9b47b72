/** Snapshots that are made in this thread, on the disk that fails, and go on when the course of a test lets them. */
import type { Disk } from '../../../src/backends/file/log/disk.ts';
import { compact } from '../../../src/backends/file/replay/compact.ts';

interface Halted {
  readonly go: () => void;
  readonly end: (error: Error) => void;
}

/** Halts before it begins, and before it waits for the disk; so what others do meanwhile has a place in the order. */
export class SteppedCompaction {
  readonly #disk: Disk;
  #halted: Halted | undefined;
  #isClosed = false;
  /** It has halted again, or ended. */
  #came: () => void = () => undefined;

  constructor(disk: Disk) {
    const halt = (): Promise<void> => this.#halt();
    this.#disk = {
      folder: disk.folder,
      list: () => disk.list(),
      size: (name) => disk.size(name),
      read: (name) => disk.read(name),
      create: async (name, bytes) => {
        await halt();
        const file = await disk.create(name, bytes);
        return { ...file, sync: () => halt().then(() => file.sync()) };
      },
      open: (name) => disk.open(name),
      rename: (from, to) => disk.rename(from, to),
      remove: (name) => disk.remove(name),
      free: () => disk.free(),
    };
  }

  async run(upTo: number): Promise<number> {
    try {
      await this.#halt();
      return await compact(this.#disk, upTo);
    } finally {
      this.#came();
    }
  }

  /** Lets one that has halted go on until it halts again, or has ended. */
  async advance(): Promise<void> {
    const halted = this.#halted;
    if (halted === undefined) return;
    const came = new Promise<void>((resolve) => {
      this.#came = resolve;
    });
    this.#halted = undefined;
    halted.go();
    await came;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    const halted = this.#halted;
    this.#halted = undefined;
    halted?.end(new Error('its thread was ended'));
  }

  #halt(): Promise<void> {
    if (this.#isClosed) return Promise.resolve();
    const halted = new Promise<void>((resolve, reject) => {
      this.#halted = { go: resolve, end: reject };
    });
    this.#came();
    return halted;
  }
}
