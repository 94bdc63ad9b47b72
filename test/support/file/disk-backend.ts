/** Data on a disk in memory whose owner dies now and then, and is followed by the next one. */

import { type Carry, partsOf } from '../../../src/backends/file/log/calls.ts';
import { type CommandLog, openLog } from '../../../src/backends/file/log/command-log.ts';
import { Owner } from '../../../src/backends/file/owner.ts';
import { readData } from '../../../src/backends/file/replay/read-data.ts';
import type { Clock } from '../../../src/base/time.ts';
import { ClosedError } from '../../../src/domain/errors/errors.ts';
import type { Retention } from '../../../src/domain/fairness/settings.ts';
import type { Backend } from '../../../src/domain/port/backend.ts';
import { FaultyDisk } from './faulty-disk.ts';

/** Small, so that a history fills several. */
const SEGMENT_BYTES = 65_536;

/** How owners come and go. */
export interface DyingOptions {
  readonly clock: Clock;
  /** An owner dies before every so manieth call, unless a call waits. */
  readonly every: number;
}

/** A backend whose owner dies now and then; every second one loses the power, too. */
export function dyingBackend({
  clock,
  every,
}: DyingOptions): Backend & { readonly deaths: number; die(): void } {
  const data = new DyingData(clock, every);
  return {
    name: 'file',
    capabilities: { durable: true, shared: true },
    ...partsOf(data.carry),
    open: async ({ retention }) => {
      await data.open(retention);
      return { description: 'on a disk in memory', warnings: [] };
    },
    close: () => data.close(),
    /** Its owner dies before the next call. */
    die: () => data.die(),
    get deaths() {
      return data.epoch - 1;
    },
  };
}

class DyingData {
  epoch = 0;
  readonly #clock: Clock;
  readonly #every: number;
  #disk = new FaultyDisk();
  #log: CommandLog | undefined;
  #owner: Owner | undefined;
  #asker: Carry | undefined;
  #retention: Retention | undefined;
  #calls = 0;
  #isClosed = false;
  #underWay = 0;
  /** The owner is to die as soon as no call waits; at first there is none. */
  #isDue = true;
  #dying: Promise<void> | undefined;

  constructor(clock: Clock, every: number) {
    this.#clock = clock;
    this.#every = every;
  }

  async open(retention: Retention): Promise<void> {
    this.#retention = retention;
    await this.#asker?.('retention', [retention]);
  }

  die(): void {
    this.#isDue = true;
  }

  readonly carry: Carry = async (name, args) => {
    if (this.#isClosed) throw new ClosedError('the backend');
    this.#calls++;
    if (this.#calls % this.#every === 0) this.#isDue = true;
    while (this.#dying !== undefined || (this.#isDue && this.#underWay === 0)) {
      this.#dying ??= this.#next().finally(() => {
        this.#dying = undefined;
      });
      await this.#dying;
    }
    this.#underWay++;
    try {
      return await this.#asker?.(name, args);
    } finally {
      this.#underWay--;
    }
  };

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#owner?.close();
    await this.#log?.close();
  }

  async #next(): Promise<void> {
    this.#isDue = false;
    await this.#owner?.close();
    const files =
      this.epoch % 2 === 0 ? this.#disk.afterCrash() : this.#disk.afterPowerCut(this.epoch);
    this.#disk.crash();
    this.#disk = new FaultyDisk(files);
    this.epoch++;
    const { engine, found } = await readData(this.#disk, this.#clock);
    this.#log = await openLog(this.#disk, {
      found,
      epoch: this.epoch,
      stillOwns: () => true,
      sync: 'always',
      clock: this.#clock,
      segmentBytes: SEGMENT_BYTES,
      // Some owners sync in a thread, so that others come meanwhile.
      quickMs: this.epoch % 3 === 0 ? -1 : undefined,
    });
    const grown = (): void => undefined;
    const makeSpace = async (): Promise<boolean> => false;
    const problems = (): readonly string[] => [];
    const stillOwns = (): boolean => true;
    this.#owner = new Owner({ engine, log: this.#log, grown, makeSpace, problems, stillOwns });
    this.#asker = this.#owner.asker();
    if (this.#retention !== undefined) await this.#asker('retention', [this.#retention]);
  }
}
