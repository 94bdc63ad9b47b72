/** The course of a history on a disk that fails: owners that come, answer several calls at once, and go. */
import { NOT_TAKEN } from '../../../src/backends/file/log/calls.ts';
import { snapshotsOf } from '../../../src/backends/file/log/recovery.ts';
import { openOwner } from '../../../src/backends/file/open-owner.ts';
import { readData } from '../../../src/backends/file/replay/read-data.ts';
import type { Role } from '../../../src/backends/file/role.ts';
import type { SyncMode } from '../../../src/domain/port/backend.ts';
import { SeededRandom } from '../../chaos/seeded-random.ts';
import { RETENTION } from '../../model/harness.ts';
import { FaultyDisk } from '../../support/file/faulty-disk.ts';
import { nextClaim } from '../../support/file/opened.ts';
import { stateText } from '../../support/file/state-text.ts';
import { CourseClock } from './course-clock.ts';
import { callOf, codeOf, digestOf, type Oracle, textOf } from './oracle.ts';
import { SteppedCompaction } from './stepped-compaction.ts';
import { type Tally, Wrong } from './tally.ts';

/** What files are on a disk. */
export type Files = ReadonlyMap<string, Buffer>;

/** How the data is kept. */
export interface Setting {
  readonly sync: SyncMode;
  readonly segmentBytes: number;
  readonly leastLog: number;
  readonly quickMs?: number;
}

/** What a course is made of. */
export interface CourseParts {
  readonly disk: FaultyDisk;
  readonly oracle: Oracle;
  readonly tally: Tally;
  readonly setting: Setting;
  /** Decides what is called at once, when owners leave, and how far a snapshot comes meanwhile. */
  readonly seed: number;
  /** Calls that the data has. */
  readonly done: readonly string[];
  /** Calls that come now. */
  readonly queue: readonly string[];
  /** Looks at it when some calls were answered or refused. */
  readonly look?: (course: Course) => Promise<void>;
  /** From this operation on calls come one by one: those that find no room wait, and others would overtake them. */
  readonly aloneFrom?: number;
}

/** Calls that are under way at once. */
const AT_ONCE = 8;

/** After so many times something is refused for ever. */
const TRIES = 5;

/** Turns of the event loop that a commit takes at most. */
const COMMIT_TURNS = 30;

/** Batches for which a full disk stays so. */
const FULL_BATCHES = 6;

/** Longer than nothing is tried again on a full disk, in ms. */
const LATER_MS = 2_000;

/** Of all recoveries each so manieth is done once more without the newest snapshot. */
const OLDER_EACH = 4;

/** Of two states that differ, in characters. */
const SHOWN = 120;

const NOT_WRITTEN = 'refused: BACKEND_FULL';
const UNKNOWN = 'refused: BACKEND_UNAVAILABLE';

/** See above. Ends when all was called, or the disk is gone. */
export class Course {
  /** Calls in the order in which they were made; those that were refused before anything changed are not among them. */
  issued: string[];
  /** So many of them are known to count. */
  acked: number;
  /** So many survive a loss of power. */
  safe: number;
  readonly disk: FaultyDisk;
  readonly #parts: CourseParts;
  readonly #clock = new CourseClock();
  readonly #chance: SeededRandom;
  readonly #answers: { readonly at: number; readonly answer: string }[] = [];
  /** When so many calls counted. */
  readonly #times: { readonly passed: number; readonly acked: number }[] = [];
  readonly #queue: string[];
  #role: Role | undefined;
  #compaction: SteppedCompaction;
  #isOver = false;
  #wasOpen = false;
  #fullBatches = 0;
  #wasFull = false;
  /** How often calls were refused since there was room. */
  readonly #refusals = new Map<string, number>();

  constructor(parts: CourseParts) {
    this.#parts = parts;
    this.disk = parts.disk;
    this.issued = [...parts.done];
    [this.acked, this.safe] = [parts.done.length, parts.done.length];
    this.#queue = [...parts.queue];
    this.#chance = new SeededRandom(parts.seed);
    this.#compaction = new SteppedCompaction(parts.disk);
  }

  /** Calls that were not made. */
  get left(): readonly string[] {
    return this.#queue;
  }

  /** `end`: the last owner leaves in order, or dies. @throws {@link Wrong} */
  async run(end: 'close' | 'die' = 'close'): Promise<void> {
    do {
      await this.#enter();
      await this.#goOn();
      await this.#mustAnswerAlike();
      if (end === 'die') this.disk.crash();
    } while (!(await this.#leave()) && !this.disk.isDown);
  }

  async #goOn(): Promise<void> {
    while (this.#queue.length > 0 && !this.disk.isDown) {
      await this.#batch();
      if (this.#chance.next() < 0.5) await this.#compaction.advance();
      const leaves = this.#chance.next() < 0.06;
      if (this.disk.isDown) return;
      await this.#parts.look?.(this);
      if (!this.#isOver && !leaves) continue;
      await this.#leave();
      await this.#enter();
    }
  }

  /** How many calls the data has that stands in these files. @throws {@link Wrong} when that is less, or no number. */
  async found(files: Files, least: number): Promise<number> {
    const number = await this.#find(files, least);
    const { tally } = this.#parts;
    // On a full disk one snapshot is kept in place of two.
    const hasOne = this.#wasFull || this.disk.capacity.bytes < Infinity;
    if (hasOne || tally.recoveries % OLDER_EACH !== 0) return number;
    const [newest] = snapshotsOf([...files.keys()]);
    const older = new Map([...files].filter(([name]) => name !== newest?.name));
    const again = newest === undefined ? number : await this.#find(older, least);
    if (again === number) return number;
    throw new Wrong('lost', `without ${newest?.name} ${again} calls of ${number} are there`);
  }

  async #find(files: Files, least: number): Promise<number> {
    const { oracle, tally } = this.#parts;
    tally.recoveries++;
    const digest = await digestIn(files);
    const path = await oracle.path(this.issued);
    const after = path.findLastIndex((known) => known.digest === digest);
    // Before the first step it is not said how long ended tasks are kept.
    const number = after === -1 && digest === (await digestIn(new Map())) ? 0 : after;
    if (number === -1) throw new Wrong('invented', await this.#difference(files, least));
    if (number < least) {
      const gone = this.issued.slice(number, least).join('\n');
      throw new Wrong('lost', `${number} calls of ${least} are there, not\n${gone}`);
    }
    return number;
  }

  /** How the state of these files differs from those that it may be. */
  async #difference(files: Files, least: number): Promise<string> {
    const { engine } = await readData(new FaultyDisk(files), new CourseClock());
    const found = stateText(engine.store);
    const rows: string[] = [];
    for (let number = least; number <= this.issued.length; number++) {
      const text = stateText(await this.#parts.oracle.store(this.issued.slice(0, number)));
      let at = 0;
      while (at < text.length && text[at] === found[at]) at++;
      const [from, to] = [Math.max(0, at - SHOWN), at + SHOWN];
      rows.push(`after ${number} calls: ${text.slice(from, to)} is ${found.slice(from, to)}`);
    }
    return rows.join('\n');
  }

  async #enter(): Promise<void> {
    for (let tries = 1; !this.disk.isDown; tries++) {
      try {
        await this.#open();
        break;
      } catch (error) {
        if (this.disk.isDown) return;
        this.#parts.tally.refusal('open', codeOf(error));
        if (tries === TRIES) throw new Wrong('stuck', `cannot be opened: ${String(error)}`);
        if (tries > 1) this.#makeSpace();
      }
    }
    if (this.disk.isDown) return;
    const number = await this.found(this.disk.afterCrash(), this.acked);
    // What was called and is not there is called again.
    this.#queue.unshift(...this.issued.splice(number));
    [this.acked, this.safe] = [number, number];
  }

  async #open(): Promise<void> {
    const { disk, setting } = this.#parts;
    const { sync, segmentBytes, leastLog, quickMs } = setting;
    this.#compaction = new SteppedCompaction(disk);
    const claim = nextClaim([...disk.afterCrash().keys()]);
    const options = { folder: disk.folder, clock: this.#clock, sync, maxBytes: undefined };
    const tools = { disk, compaction: this.#compaction, segmentBytes, leastLog, quickMs };
    const role = await openOwner(claim, options, this.#wasOpen, tools);
    await role.carry('retention', [RETENTION]);
    this.#role = role;
    this.#wasOpen = true;
    this.#isOver = false;
    void role.over.then(() => {
      if (this.#role === role) this.#isOver = true;
    });
  }

  /** Whether everything that was answered is on the disk. */
  async #leave(): Promise<boolean> {
    const role = this.#role;
    this.#role = undefined;
    try {
      await role?.close();
      if (this.#isOver || this.disk.isDown) return false;
      this.safe = this.acked;
      return true;
    } catch (error) {
      this.#parts.tally.refusal('close', codeOf(error));
      return false;
    }
  }

  async #batch(): Promise<void> {
    const { tally, aloneFrom = Infinity } = this.#parts;
    const isAlone = this.#chance.next() < 0.4 || this.disk.operations.length >= aloneFrom;
    const lines = this.#queue.splice(0, isAlone ? 1 : this.#chance.between(2, AT_ONCE));
    this.#clock.pass(this.#chance.between(10, 30));
    const texts = await this.#driven(Promise.all(lines.map((line) => this.#call(line))));
    for (const [nth, line] of lines.entries()) {
      const answer = texts[nth] ?? '';
      tally.calls++;
      if (answer === NOT_WRITTEN) {
        tally.refusal('call', 'BACKEND_FULL');
        this.#refused(line);
        continue;
      }
      this.issued.push(line);
      if (answer === UNKNOWN) {
        tally.refusal('call', 'BACKEND_UNAVAILABLE');
        continue;
      }
      this.acked = this.issued.length;
      this.#answers.push({ at: this.acked, answer });
    }
    if (this.disk.capacity.bytes < Infinity && ++this.#fullBatches > FULL_BATCHES)
      this.#makeSpace();
    await this.#noteSafe();
  }

  /** Calls may wait for a snapshot that makes room. */
  async #driven<T>(calls: Promise<T>): Promise<T> {
    let isDone = false;
    const done = calls.finally(() => {
      isDone = true;
    });
    done.catch(() => undefined);
    for (let turn = 0; !isDone; turn++) {
      await new Promise((resolve) => setImmediate(resolve));
      if (turn > COMMIT_TURNS) await this.#compaction.advance();
    }
    return done;
  }

  #call(line: string): Promise<string> {
    const { moment, name, args } = callOf(line);
    this.#clock.moment = moment;
    const reply = this.#role?.carry(name, args) ?? Promise.reject(new Error('no owner'));
    return textOf(name, reply.then(taken));
  }

  /** It comes again, some time later. */
  #refused(line: string): void {
    const [moment, ...rest] = JSON.parse(line);
    const again = JSON.stringify([moment + LATER_MS, ...rest]);
    const times = (this.#refusals.get(line) ?? 0) + 1;
    this.#refusals.delete(line);
    this.#refusals.set(again, this.disk.capacity.bytes === Infinity ? times : 0);
    if (times > TRIES) throw new Wrong('stuck', `refused although there is room: ${line}`);
    this.#queue.push(again);
  }

  #makeSpace(): void {
    this.#wasFull ||= this.disk.capacity.bytes < Infinity;
    this.disk.capacity.bytes = Infinity;
    this.#fullBatches = 0;
  }

  /** What was answered so long ago as `everyMs` says survives a loss of power. */
  async #noteSafe(): Promise<void> {
    const { sync } = this.#parts.setting;
    if (sync === 'always') {
      this.safe = this.acked;
      return;
    }
    const { passed } = this.#clock;
    // A sync that the time has begun.
    for (let turn = 0; turn < 4; turn++) await new Promise((resolve) => setImmediate(resolve));
    if (this.#isOver || this.disk.isDown) return;
    for (const before of this.#times) {
      if (before.passed + sync.everyMs <= passed) this.safe = Math.max(this.safe, before.acked);
    }
    this.#times.push({ passed, acked: this.acked });
  }

  async #mustAnswerAlike(): Promise<void> {
    const path = await this.#parts.oracle.path(this.issued);
    for (const { at, answer } of this.#answers.splice(0)) {
      const expected = path[at]?.answer;
      if (expected === answer) continue;
      throw new Wrong('answers', `${this.issued[at - 1]}: ${answer} in place of ${expected}`);
    }
  }
}

function taken(reply: unknown): unknown {
  if (reply === NOT_TAKEN) throw new Wrong('stuck', 'an owner that is there takes no call');
  return reply;
}

/** Of the state that these files tell. @throws {@link Wrong} when they are refused. */
async function digestIn(files: Files): Promise<string> {
  try {
    const { engine } = await readData(new FaultyDisk(files), new CourseClock());
    return digestOf(engine.store);
  } catch (error) {
    throw new Wrong('damaged', String(error));
  }
}
