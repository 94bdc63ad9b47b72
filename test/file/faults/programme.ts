/** Every fault at every operation of the disk in the course of a history, and what has to be there afterwards. */
import { type Fault, FaultyDisk } from '../../support/file/faulty-disk.ts';
import { Course, type CourseParts, type Files, type Setting } from './course.ts';
import { type History, historyOf } from './history.ts';
import { Oracle } from './oracle.ts';
import { type Tally, Wrong } from './tally.ts';

/** How much is done. */
export interface Extent {
  /** The most calls of a history. */
  readonly calls: number;
  /** Of all operations each so manieth is struck. */
  readonly stride: number;
  /** Losses of power for each crash. */
  readonly cuts: number;
  /** Faults, but for crashes, that strike each operation; others the next one. */
  readonly kinds: number;
  /** Of all recoveries each so manieth goes on to the end of its history … */
  readonly goesOn: number;
  /** … and is struck again, at each of its own operations. */
  readonly again: number;
}

/** All that can happen. */
export const THOROUGH: Extent = { calls: 120, stride: 1, cuts: 4, kinds: 4, goesOn: 3, again: 16 };

/** Faults after which the process lives. */
const LIVE: readonly Fault[] = ['EIO', 'short', 'ENOSPC', 'full'];

/** Operations of one call, at most. */
const BEFORE = 20;

/** Longer than any course takes, in ms. */
const STUCK_MS = 60_000;

/** For no disk is as quick: everything is synced in a thread. */
const SLOW = -1;

/** Small, so that a history fills several segments and makes several snapshots. */
const SETTINGS: readonly Setting[] = [
  { sync: 'always', segmentBytes: 4_096, leastLog: 6_000, quickMs: SLOW },
  { sync: { everyMs: 100 }, segmentBytes: 4_096, leastLog: 6_000 },
  { sync: 'always', segmentBytes: 16_384, leastLog: 3_000 },
];

/** Strikes the history of this seed. */
export async function strike(seed: number, extent: Extent, tally: Tally): Promise<void> {
  const setting = SETTINGS[seed % SETTINGS.length];
  if (setting === undefined) throw new Error('a seed is not negative');
  const history = await historyOf(seed, extent.calls);
  tally.histories++;
  await new Programme({ history, setting, seed, extent, tally }).run();
}

interface ProgrammeParts {
  readonly history: History;
  readonly setting: Setting;
  readonly seed: number;
  readonly extent: Extent;
  readonly tally: Tally;
}

/** Faults at the operations of one history. */
class Programme {
  readonly #history: History;
  readonly #setting: Setting;
  readonly #seed: number;
  readonly #extent: Extent;
  readonly #tally: Tally;
  readonly #oracle = new Oracle();
  #recovered = 0;

  constructor({ history, setting, seed, extent, tally }: ProgrammeParts) {
    this.#history = history;
    this.#setting = setting;
    this.#seed = seed;
    this.#extent = extent;
    this.#tally = tally;
  }

  async run(): Promise<void> {
    const operations = await this.#whole();
    this.#tally.operations += operations.length;
    const { stride, kinds } = this.#extent;
    for (let at = 1; at <= operations.length; at += stride) {
      const where = `seed ${this.#seed}, operation ${at} (${operations[at - 1]})`;
      await this.#crash(at, where);
      for (let nth = 0; nth < kinds; nth++) {
        const turn = Math.floor(at / stride) * kinds + nth;
        const fault = LIVE[turn % LIVE.length] ?? 'EIO';
        await this.#live(at, fault, `${where}, ${fault}`);
      }
    }
  }

  /** Without a fault. */
  async #whole(): Promise<readonly string[]> {
    const disk = new FaultyDisk();
    await this.#guarded('without a fault', async () => {
      const course = this.#course({ disk });
      await course.run();
      await this.#mustHaveAll(course);
    });
    const { operations } = disk;
    const some = (pattern: RegExp): number => operations.filter((one) => pattern.test(one)).length;
    this.#tally.snapshots.made += some(/^rename state-/);
    this.#tally.snapshots.forgotten += some(/^remove state-\d+$/);
    this.#tally.segments += some(/^create log-/);
    return operations;
  }

  /** The process ends there, with the power or without. */
  async #crash(at: number, where: string): Promise<void> {
    const disk = new FaultyDisk(new Map(), { seed: at });
    disk.failAt(at, 'crash');
    const course = this.#course({ disk });
    await this.#guarded(`${where}, crash`, () => course.run());
    this.#tally.fault('kill');
    await this.#guarded(`${where}, kill`, () =>
      this.#recovers(course, disk.afterCrash(), { least: course.acked, seed: at }),
    );
    for (let cut = 0; cut < this.#extent.cuts; cut++) {
      const seed = at + cut;
      this.#tally.fault('loss of power');
      await this.#guarded(`${where}, loss of power ${seed}`, () =>
        this.#recovers(course, disk.afterPowerCut(seed), { least: course.safe, seed }),
      );
    }
  }

  /** The disk fails there, and the process lives. */
  async #live(at: number, fault: Fault, where: string): Promise<void> {
    this.#tally.fault(fault);
    const disk = new FaultyDisk(new Map(), { seed: at });
    disk.failAt(at, fault);
    let probes = 0;
    // The power goes soon after, too.
    const look = async (course: Course): Promise<void> => {
      if (disk.operations.length < at || ++probes > 2) return;
      await course.found(disk.afterPowerCut(at + probes), course.safe);
    };
    await this.#guarded(where, async () => {
      const course = this.#course({ disk, look, aloneFrom: at - BEFORE });
      await course.run();
      await course.found(disk.afterPowerCut(at), course.safe);
      await this.#mustHaveAll(course);
    });
  }

  /** What was known to count is there; some go on from there, and some meet a second fault. */
  async #recovers(
    course: Course,
    files: Files,
    { least, seed }: { readonly least: number; readonly seed: number },
  ): Promise<void> {
    const number = await course.found(files, least);
    const [done, lost] = [course.issued.slice(0, number), course.issued.slice(number)];
    const queue = [...lost, ...course.left];
    this.#recovered++;
    if (this.#recovered % this.#extent.goesOn === 0) {
      const next = this.#course({ disk: new FaultyDisk(files, { seed }), done, queue, seed });
      await next.run();
      await this.#mustHaveAll(next);
    }
    if (this.#recovered % this.#extent.again !== 0) return;
    for (let at = 1; ; at++) {
      const disk = new FaultyDisk(files, { seed: at });
      disk.failAt(at, 'crash');
      const next = this.#course({ disk, done, queue: queue.slice(0, 1), seed });
      await next.run('die');
      if (disk.operations.length < at) return;
      this.#tally.fault('second fault');
      await next.found(disk.afterCrash(), next.acked);
      await next.found(disk.afterPowerCut(seed + at), next.safe);
      await this.#opens(next, disk.afterPowerCut(seed + at + 1));
    }
  }

  /** The data is opened anew, closed and read. */
  async #opens(course: Course, files: Files): Promise<void> {
    const number = await course.found(files, course.safe);
    const done = course.issued.slice(0, number);
    const next = this.#course({ disk: new FaultyDisk(files), done, queue: [] });
    await next.run();
    await this.#mustHaveAll(next);
  }

  async #mustHaveAll(course: Course): Promise<void> {
    await course.found(course.disk.afterCrash(), course.issued.length);
    await course.found(course.disk.afterPowerCut(0), course.issued.length);
  }

  #course(parts: Pick<CourseParts, 'disk'> & Partial<CourseParts>): Course {
    return new Course({
      oracle: this.#oracle,
      tally: this.#tally,
      setting: this.#setting,
      seed: this.#seed,
      done: [],
      queue: this.#history,
      ...parts,
    });
  }

  async #guarded(where: string, act: () => Promise<void>): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const stuck = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new Wrong('stuck', 'it does not end')), STUCK_MS);
    });
    try {
      await Promise.race([act(), stuck]);
    } catch (error) {
      if (!(error instanceof Wrong)) throw error;
      const { kind, message } = error;
      this.#tally.findings.push({ kind, text: `${where}: ${message}` });
    } finally {
      clearTimeout(timer);
    }
  }
}
