/**
 * The reserve: a file of zeros that becomes a segment when the disk has no room for another one. Only calls that end work
 * and free room come to it. It stays when the folder is closed, so that a folder on a full disk can be opened.
 */
import type { Disk, DiskFile } from './disk.ts';

/** Its name. */
export const RESERVE = 'reserve';

/** See above. */
export class Reserve {
  readonly #disk: Disk;
  #bytes: number;

  constructor(disk: Disk) {
    this.#disk = disk;
    this.#bytes = disk.size(RESERVE) ?? 0;
  }

  /** How much it has; 0: it is not there. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Makes it so large, unless it is at least half of that. @throws what the disk says. */
  async make(bytes: number): Promise<void> {
    if (this.#bytes * 2 >= bytes) return;
    this.#bytes = 0;
    this.#disk.remove(RESERVE);
    (await this.#disk.create(RESERVE, bytes)).close();
    this.#bytes = bytes;
  }

  /** Gives it this name: it is used now. */
  use(name: string): { readonly file: DiskFile; readonly bytes: number } {
    const bytes = this.#bytes;
    this.#bytes = 0;
    this.#disk.rename(RESERVE, name);
    return { file: this.#disk.open(name), bytes };
  }
}
