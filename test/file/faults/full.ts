/**
 * A disk that becomes full in a history and stays so, with a crash or without, until all that was taken has run to its end.
 * One that is full by what the folder has alone never refuses what ends work. One that others fill may, once the reserve is
 * spent: then there is room again, and the work goes on.
 */
import type { Role } from '../../../src/backends/file/role.ts';
import { type Kit, LEASE_MS } from '../../../src/testing/contract/kit.ts';
import { SeededRandom } from '../../chaos/seeded-random.ts';
import { FaultyDisk } from '../../support/file/faulty-disk.ts';
import { opened } from '../../support/file/opened.ts';
import { HandClock } from '../../support/hand-clock.ts';
import { codeOf } from './oracle.ts';
import { type Tally, Wrong } from './tally.ts';

/** How much is done. */
export interface FullExtent {
  /** Of all operations the disk becomes full at each so manieth. */
  readonly stride: number;
  /** Ends of the process after that, each at another operation. */
  readonly crashes: number;
}

/** Tasks that a history stores, and of how many each one runs before the disk is drained. */
const TASKS = 40;
const SERVED_EACH = 3;

/** Tasks that are taken once there is room. */
const LATER_TASKS = 3;

const SEGMENT_BYTES = 16_384;
const TOOLS = { segmentBytes: SEGMENT_BYTES, leastLog: 60_000, quickMs: -1 };
/** Bytes of a disk of which something is kept for what ends work; a smaller one has not room for some segments. */
const LEAST_DISK = 131_072;
const RETENTION_MS = 600_000;
const RETENTION = { finishedMs: RETENTION_MS, failedMs: RETENTION_MS, canceledMs: RETENTION_MS };

/** Longer than nothing is tried again on a full disk, in ms. */
const LATER_MS = 10_000;

/** Calls after which something never ends. */
const MANY = 1_000;

/** The folder of a course, in bytes: at most, and when all has ended. */
export interface FullFigures {
  readonly fullest: number;
  readonly drained: number;
}

/** The disk becomes full at each operation of the history of this seed. */
export async function strikeFull(
  seed: number,
  { stride, crashes }: FullExtent,
  tally: Tally,
): Promise<FullFigures> {
  const whole = new FullCourse(new FaultyDisk(new Map(), { seed }), { seed, tally });
  await whole.run();
  tally.operations += whole.operations;
  const { fullest, drained } = whole.figures;
  const most = drained + 4 * SEGMENT_BYTES;
  for (let at = 1; at <= whole.filledAt; at += stride) {
    const more = Math.max(0, fullest - LEAST_DISK);
    const bytes = LEAST_DISK + Math.ceil((more * at) / whole.filledAt);
    for (const isOwn of [true, false]) {
      for (let nth = 0; nth <= crashes; nth++) {
        const disk = new FaultyDisk(new Map(), { seed: at, capacity: isOwn ? bytes : Infinity });
        if (!isOwn) disk.failAt(at, 'full');
        tally.fault(`full by ${isOwn ? 'itself' : 'others'} until drained`);
        if (nth > 0) {
          tally.fault('crash on a full disk');
          disk.failAt(at + Math.ceil(((whole.operations - at) * nth) / (crashes + 1)), 'crash');
        }
        try {
          await new FullCourse(disk, { seed: seed + nth, tally, isOwn, most }).run();
        } catch (error) {
          const { kind, message } = error instanceof Wrong ? error : UNTYPED(error);
          const where = isOwn ? `${bytes} bytes` : `full from operation ${at}`;
          const text = `seed ${seed}, ${where}, crash ${nth} at ${at}: ${message}`;
          tally.findings.push({ kind, text });
        }
      }
    }
  }
  return whole.figures;
}

const UNTYPED = (error: unknown): Wrong => new Wrong('untyped', String(error));

interface FullParts {
  readonly seed: number;
  readonly tally: Tally;
  /** The disk is full by this folder alone: what ends work is never refused. */
  readonly isOwn?: boolean;
  /** Bytes that the folder has when all has ended. */
  readonly most?: number;
}

/** What ends work, or an opening, was refused for want of room. */
class Refused extends Error {}

/** One history, by as many processes as it takes. */
class FullCourse {
  /** Operations of the disk, and how many of them came before it was drained. */
  operations = 0;
  filledAt = 0;
  figures: FullFigures = { fullest: 0, drained: 0 };
  readonly #parts: Required<FullParts>;
  readonly #accepted = new Set<string>();
  #disk: FaultyDisk;
  #clock = new HandClock();
  #owner: { readonly kit: Kit; readonly role: Role } | undefined;
  #sent = 0;
  #wasOpen = false;

  constructor(disk: FaultyDisk, parts: FullParts) {
    this.#disk = disk;
    this.#parts = { isOwn: true, most: Infinity, ...parts };
  }

  /** @throws {@link Wrong} */
  async run(): Promise<void> {
    for (let isOver = false; !isOver; ) {
      try {
        await this.#live();
        isOver = true;
      } catch (error) {
        if (this.#disk.isDown) this.#next();
        else if (!(error instanceof Refused)) throw error;
        else if (this.#parts.isOwn) throw new Wrong('stuck', error.message);
        else {
          this.#disk.capacity.bytes = Infinity;
          await this.#owner?.role.close().catch(() => undefined);
        }
      }
    }
  }

  /** The next process finds what the one before has left, on a disk that is as full. */
  #next(): void {
    const { seed, tally, isOwn } = this.#parts;
    // A loss of power may bring back what was removed, for which the disk has no room.
    const isCut = !isOwn && seed % 2 === 1;
    const files = isCut ? this.#disk.afterPowerCut(seed) : this.#disk.afterCrash();
    tally.recoveries++;
    const capacity = Math.max(this.#disk.capacity.bytes, bytesOf(files));
    this.#disk = new FaultyDisk(files, { capacity, seed });
    const clock = new HandClock();
    clock.move(this.#clock.now() - clock.now());
    this.#clock = clock;
  }

  async #live(): Promise<void> {
    await this.#open();
    await this.#fill();
    this.filledAt = this.#disk.operations.length;
    const fullest = bytesOf(this.#disk.afterCrash());
    await this.#drain();
    await this.#forget();
    if (!this.#parts.isOwn) this.#disk.capacity.bytes = Infinity;
    // Each opening leaves one snapshot of before.
    for (let times = 0; times < 2; times++) {
      await this.#owner?.role.close();
      await this.#open();
    }
    const drained = bytesOf(this.#disk.afterCrash());
    this.figures = { fullest, drained };
    const { most } = this.#parts;
    if (drained > most) throw new Wrong('stuck', `${drained} bytes are left, of ${most} at most`);
    this.#disk.capacity.bytes = Infinity;
    for (let nth = 0; nth < LATER_TASKS; nth++) await this.#mustTake();
    await this.#drain();
    await this.#owner?.role.close();
    this.operations = this.#disk.operations.length;
  }

  async #open(): Promise<void> {
    try {
      await this.#enter();
    } catch (error) {
      if (this.#disk.isDown) throw error;
      this.#parts.tally.refusal('open', codeOf(error));
      if (this.#wasOpen) throw new Refused(`a full folder: ${String(error)}`);
      // Nothing was taken: a folder is begun where there is room.
      this.#disk.capacity.bytes = Infinity;
      await this.#enter();
    }
    await this.#step('register', () => this.#kit.worker('w'));
    this.#wasOpen = true;
  }

  async #enter(): Promise<void> {
    const [disk, clock] = [this.#disk, this.#clock];
    const files = [...disk.afterCrash().keys()];
    const expect = (): never => {
      throw new Error('nothing is expected here');
    };
    this.#owner = await opened({ disk, files, clock, retention: RETENTION, expect, ...TOOLS });
  }

  get #kit(): Kit {
    if (this.#owner === undefined) throw new Error('the data is not open');
    return this.#owner.kit;
  }

  /** Stores tasks, of which some run, whether the disk is full or not. */
  async #fill(): Promise<void> {
    while (this.#sent < TASKS) {
      this.#sent++;
      await this.#take(`t${this.#sent}`);
      if (this.#sent % SERVED_EACH === 0) await this.#serve(1);
      this.#clock.move(20);
    }
  }

  /** Whether it was taken. */
  async #take(id: string): Promise<boolean> {
    const { seed, tally } = this.#parts;
    const chance = new SeededRandom(seed * TASKS + this.#sent);
    const length = chance.between(3_000, 15_000);
    const codes = Array.from({ length }, () => chance.between(48, 90));
    const payload = JSON.stringify(String.fromCharCode(...codes));
    tally.calls++;
    try {
      await this.#kit.sendOne({ id, payload });
      this.#accepted.add(id);
      return true;
    } catch (error) {
      if (this.#disk.isDown) throw error;
      tally.refusal('call', codeOf(error));
      if (codeOf(error) !== 'BACKEND_FULL') throw new Refused(`enqueue: ${String(error)}`);
      return false;
    }
  }

  async #mustTake(): Promise<void> {
    const id = `t${++this.#sent}`;
    for (let tries = 0; tries < 3; tries++) {
      if (await this.#take(id)) return;
      this.#clock.move(LATER_MS);
    }
    throw new Wrong('stuck', `${id} is refused although there is room`);
  }

  /** A call that ends work or frees room. */
  async #step<T>(what: string, call: () => Promise<T>): Promise<T> {
    const { tally } = this.#parts;
    tally.calls++;
    try {
      return await call();
    } catch (error) {
      if (this.#disk.isDown) throw error;
      tally.refusal('step', codeOf(error));
      throw new Refused(`${what}: ${String(error)}`);
    }
  }

  /** How many ran. */
  async #serve(limit: number): Promise<number> {
    const kit = this.#kit;
    const { leases } = await this.#step('lease', () => kit.leaseReply({ limit }));
    if (leases.length === 0) return 0;
    const decision = { type: 'finish', result: '"done"' } as const;
    const settlements = leases.map(({ id, token }) => ({ id, token, decision }));
    await this.#step('settle', () => kit.backend.tasks.settle({ worker: 'w', settlements }));
    return leases.length;
  }

  /** All that was taken ends; leases of a process that has died are over before. */
  async #drain(): Promise<void> {
    for (let idle = 0, calls = 0; idle < 3; calls++) {
      if (calls === MANY) throw new Wrong('stuck', 'the work does not end');
      if ((await this.#serve(5)) > 0) continue;
      idle++;
      this.#clock.move(LEASE_MS);
      await this.#rest();
    }
    const ids = [...this.#accepted];
    const found = await this.#kit.backend.inspect.status(ids);
    const open = ids.filter((_, at) => found[at]?.state !== 'finished');
    if (open.length > 0) throw new Wrong('lost', `${open.join(', ')} did not end`);
  }

  async #rest(): Promise<void> {
    for (let ticks = 0; ticks < MANY; ticks++) {
      const { more } = await this.#step('tick', () => this.#kit.backend.tasks.tick());
      if (!more) return;
    }
    throw new Wrong('stuck', 'maintenance does not end');
  }

  /** Tasks that have ended are kept no longer. */
  async #forget(): Promise<void> {
    this.#accepted.clear();
    for (let passed = 0; passed < 2 * RETENTION_MS; passed += LEASE_MS) this.#clock.move(LEASE_MS);
    await this.#rest();
  }
}

function bytesOf(files: ReadonlyMap<string, Buffer>): number {
  return [...files.values()].reduce((total, { length }) => total + length, 0);
}
