/**
 * A disk that becomes full in a history and stays so, with a crash or without, until all that was taken has run to its end.
 * One that is full by what the folder has alone never refuses what ends work. One that others fill may, once the reserve is
 * spent: then there is room again, and the work goes on. With results that are larger than that, leases and settlements
 * are refused: then the folder can be opened, looked at and freed, and what was refused goes through.
 */
import type { Role } from '../../../src/backends/file/role.ts';
import { type Kit, LEASE_MS } from '../../../src/conformance/kit.ts';
import type { LeaseRef, Settlement } from '../../../src/domain/port/backend.ts';
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
  /** Some tasks finish with results as large as what they were given, or several times larger. */
  readonly hasLargeResults?: boolean;
}

/** Tasks that a history stores, and of how many each one runs before the disk is drained. */
const TASKS = 40;
const SERVED_EACH = 3;

/** Of all tasks each so manieth has a large result, and of these each third one is so many times larger than what it was given. */
const LARGE_EACH = 1;
const TIMES_LARGER = 3;

/** Tasks that are taken once there is room. */
const LATER_TASKS = 3;

const SEGMENT_BYTES = 16_384;
const TOOLS = { segmentBytes: SEGMENT_BYTES, leastLog: 60_000, quickMs: -1 };
/** Bytes of a disk that has room for some segments; and of one of which something is kept. */
const LEAST_DISK = 131_072;
const LEAST_KEEPING = 16 * SEGMENT_BYTES;
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
  { stride, crashes, hasLargeResults = false }: FullExtent,
  tally: Tally,
): Promise<FullFigures> {
  const whole = new FullCourse(new FaultyDisk(new Map(), { seed }), {
    seed,
    tally,
    hasLargeResults,
  });
  await whole.run();
  tally.operations += whole.operations;
  const { fullest, drained } = whole.figures;
  const most = drained + 4 * SEGMENT_BYTES;
  const least = hasLargeResults ? LEAST_KEEPING : LEAST_DISK;
  for (let at = 1; at <= whole.filledAt; at += stride) {
    const more = Math.max(0, fullest - least);
    const bytes = least + Math.ceil((more * at) / whole.filledAt);
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
          const parts = { seed: seed + nth, tally, isOwn, most, hasLargeResults };
          await new FullCourse(disk, parts).run();
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
  readonly hasLargeResults: boolean;
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
  /** Results, of those that have large ones. */
  readonly #results = new Map<string, string>();
  /** What was refused for want of room. */
  #unsettled: Settlement[] = [];
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
    this.#unsettled = [];
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
      if (this.#parts.hasLargeResults && this.#sent % LARGE_EACH === 0) {
        const times = this.#sent % (3 * LARGE_EACH) === 0 ? TIMES_LARGER : 1;
        this.#results.set(id, `[${Array(times).fill(payload).join()}]`);
      }
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

  /** One that may find no room because of large results: `undefined`. It does once the folder is freed. */
  async #refusable<T>(what: string, call: () => Promise<T>): Promise<T | undefined> {
    const { tally, hasLargeResults, isOwn } = this.#parts;
    try {
      tally.calls++;
      return await call();
    } catch (error) {
      if (this.#disk.isDown) throw error;
      tally.refusal(what, codeOf(error));
      if (hasLargeResults && isOwn && codeOf(error) === 'BACKEND_FULL') return undefined;
      throw new Refused(`${what}: ${String(error)}`);
    }
  }

  /** What an operator does: removes what has ended, or gives the folder a larger disk. */
  async #free(): Promise<void> {
    const ids = [...this.#accepted];
    const found = await this.#kit.backend.inspect.status(ids);
    const ended = ids.find((_, at) => found[at]?.state === 'finished');
    if (ended === undefined) {
      this.#parts.tally.fault('a larger disk');
      this.#disk.capacity.bytes += SEGMENT_BYTES;
    } else {
      this.#parts.tally.fault('removed');
      await this.#step('remove', () => this.#kit.backend.tasks.remove(ended));
      this.#accepted.delete(ended);
    }
    this.#clock.move(LATER_MS);
    await this.#rest();
  }

  /** How many ran. */
  async #serve(limit: number): Promise<number> {
    const reply = await this.#refusable('lease', () => this.#kit.leaseReply({ limit }));
    const leases = reply?.leases ?? [];
    const settlements = [...this.#unsettled, ...leases.map((lease) => this.#finish(lease))];
    this.#unsettled = [];
    for (const settlement of settlements) {
      const request = { worker: 'w', settlements: [settlement] };
      const settled = await this.#refusable('settle', () =>
        this.#kit.backend.tasks.settle(request),
      );
      if (settled === undefined) this.#unsettled.push(settlement);
    }
    const isRefused = reply === undefined || this.#unsettled.length > 0;
    const isStuck =
      isRefused && leases.length === 0 && this.#unsettled.length === settlements.length;
    if (isStuck) await this.#unstick();
    return isStuck ? 1 : settlements.length;
  }

  #finish({ id, token }: LeaseRef): Settlement {
    const result = this.#results.get(id) ?? '"done"';
    return { id, token, decision: { type: 'finish', result } };
  }

  /** The folder is opened anew, and freed; the leases of what is not settled are kept up. */
  async #unstick(): Promise<void> {
    await this.#owner?.role.close();
    await this.#open();
    await this.#free();
    const leases = this.#unsettled.map(({ id, token }) => ({ id, token }));
    if (leases.length === 0) return;
    const request = { worker: 'w', leaseMs: LEASE_MS, leases };
    await this.#step('extend', () => this.#kit.backend.tasks.extend(request));
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
    // One whose leases have died with too many owners has failed, as it has to.
    const open = ids.flatMap((id, at) => {
      const { state, cause } = found[at] ?? {};
      const hasEnded = state === 'finished' || (state === 'failed' && cause?.type === 'lost');
      return hasEnded ? [] : [`${id} is ${state}, ${JSON.stringify(cause)}`];
    });
    if (open.length > 0) throw new Wrong('lost', `not finished: ${open.join('; ')}`);
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
