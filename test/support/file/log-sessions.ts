/** Owners that write lines, one after the other, and what has to be there of them. */
import { type CommandLog, openLog } from '../../../src/backends/file/log/command-log.ts';
import type { Disk } from '../../../src/backends/file/log/disk.ts';
import {
  type FoundData,
  findData,
  type Snapshot,
} from '../../../src/backends/file/log/recovery.ts';
import type { SyncMode } from '../../../src/domain/port/backend.ts';
import { ManualClock } from '../../../src/testing/manual-clock.ts';

/** What all owners of a folder have done. */
export interface Ledger {
  /** By owner: its lines, in the order in which they were appended. */
  readonly appended: string[][];
  /** Lines that a caller was told of. */
  readonly told: Set<string>;
}

/** An empty one. */
export function newLedger(): Ledger {
  return { appended: [], told: new Set() };
}

/** What an owner reads when it opens the folder. */
export interface Recovered {
  readonly found: FoundData;
  readonly lines: readonly string[];
}

/** Reads the newest snapshot, and the lines behind it. The one before it, or the whole log, has to come to the same. */
export function recover(disk: Disk): Recovered {
  const found = findData(disk);
  const [newest, older] = found.snapshots;
  const lines = linesFrom(disk, found, newest);
  if (newest !== undefined) {
    const same = linesFrom(disk, found, older);
    if (same.join() !== lines.join()) throw new Error('the older snapshot comes to something else');
  }
  return { found, lines };
}

function linesFrom(disk: Disk, found: FoundData, from: Snapshot | undefined): readonly string[] {
  const before = from === undefined ? [] : linesOf(disk.read(from.name).toString());
  return [...before, ...found.linesAfter(from?.number ?? 0)];
}

function linesOf(text: string): readonly string[] {
  return text.split('\n').filter((line) => line !== '' && !line.startsWith('\0'));
}

/** What a session does. */
export interface SessionOptions {
  readonly epoch: number;
  readonly sync?: SyncMode;
  /** How often it appends some lines and waits for them. */
  readonly steps?: number;
  readonly segmentBytes?: number;
  readonly clock?: ManualClock;
}

/** An open log whose lines the ledger knows. */
export class Session {
  readonly log: CommandLog;
  readonly lines: string[] = [];
  readonly #ledger: Ledger;
  readonly #name: string;
  /** Everything that was there when it was opened. */
  readonly #before: readonly string[];

  constructor(log: CommandLog, ledger: Ledger, name: string, before: readonly string[]) {
    this.log = log;
    this.#ledger = ledger;
    this.#name = name;
    this.#before = before;
    ledger.appended.push(this.lines);
  }

  /** One line. Does not reject: the ledger has what was told. */
  async append(length = 20): Promise<boolean> {
    const line = JSON.stringify([this.#name, this.lines.length, 'é'.repeat(length)]);
    this.lines.push(line);
    try {
      await this.log.append(line);
      this.#ledger.told.add(line);
      return true;
    } catch {
      return false;
    }
  }

  /** Some at once. */
  async appendMany(count: number, length = 20): Promise<void> {
    await Promise.all(Array.from({ length: count }, () => this.append(length)));
  }

  /** A snapshot of everything, and what it makes unneeded goes. All lines must have been told. */
  async snapshot(disk: Disk): Promise<void> {
    const text = [...this.#before, ...this.lines].map((line) => `${line}\n`).join('');
    const number = await this.log.seal();
    const name = `new-${this.#name}`;
    disk.remove(name);
    const file = await disk.create(name, Buffer.byteLength(text));
    try {
      file.write(Buffer.from(text), 0);
      await file.sync();
    } finally {
      file.close();
    }
    disk.rename(name, `state-${String(number).padStart(12, '0')}`);
    this.log.forget();
  }
}

let sessions = 0;

/** Opens the folder as the owner of this epoch. */
export async function openSession(
  disk: Disk,
  ledger: Ledger,
  { epoch, sync = 'always', segmentBytes = 2_048, clock = new ManualClock() }: SessionOptions,
): Promise<Session> {
  const { found, lines } = recover(disk);
  const log = await openLog(disk, {
    found,
    epoch,
    stillOwns: () => true,
    sync,
    segmentBytes,
    clock,
    // Every second owner syncs in a thread, so that others come meanwhile.
    quickMs: epoch % 2 === 1 ? -1 : undefined,
  });
  return new Session(log, ledger, `${epoch}-${sessions++}`, lines);
}

/** Appends in all ways, makes snapshots between, and opens anew when the log is broken. Rejects when the disk is gone. */
export async function runSession(
  disk: Disk,
  ledger: Ledger,
  options: SessionOptions,
): Promise<void> {
  let session = await openSession(disk, ledger, options);
  for (let step = 0; step < (options.steps ?? 9); step++) {
    // Of one sector or of some.
    await session.append(step % 2 === 0 ? 400 : step * 10);
    if (step % 3 === 1) await session.appendMany(5);
    // Longer than a segment.
    if (step === 4) await session.append(1_500);
    try {
      if (step % 4 === 3) await session.snapshot(disk);
    } catch {
      // Without it, the log goes on.
    }
    if (!session.log.isBroken) continue;
    await session.log.close().catch(() => {});
    session = await openSession(disk, ledger, options);
  }
  await session.log.close();
}

/** What is wrong with what was read; `undefined`: nothing. */
export function wrongIn(lines: readonly string[], { appended, told }: Ledger): string | undefined {
  const found = new Set(lines);
  if (found.size < lines.length) return 'a line is there twice';
  for (const line of told) if (!found.has(line)) return `${line.slice(0, 20)} is lost`;
  // Of each owner its first lines, and those of all owners in their order.
  const expected = appended.flatMap((own) => {
    const last = own.findLastIndex((line) => found.has(line));
    return own.slice(0, last + 1);
  });
  const isSame = expected.length === lines.length && expected.every((line, i) => line === lines[i]);
  return isSame ? undefined : 'a line is missing between others, or was never appended';
}
