import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { messageOf } from '../../base/message-of.ts';
import { isRecord } from '../../base/records.ts';
import type { Clock } from '../../base/time.ts';
import { BackendUnavailableError, isOwn } from '../../domain/errors/errors.ts';
import { type Disk, diskIn } from './log/disk.ts';
import { damageText, type FoundData, findData, NOTHING } from './log/recovery.ts';
import { LOG_FORMAT, segmentsOf } from './log/segment.ts';
import { repairData } from './repair.ts';
import { EngineClock, newStore } from './replay/engine.ts';
import { isIncomplete } from './replay/incomplete.ts';
import { claimAtRest, type Guest } from './socket/ownership.ts';
import { codeOf } from './socket/system-code.ts';
import { BadSnapshotError, readSnapshot } from './state/snapshot-file.ts';

/** Bytes of a file. */
export interface DataPlace {
  /** The file. */
  readonly file: string;
  /** Its first byte. */
  readonly from: number;
  /** The byte behind its last one. */
  readonly to: number;
}

/** Commits that a data folder should have and has not. */
export interface DataLoss extends DataPlace {
  /** Number of the first commit that is gone; 0: what was copied into the folder. */
  readonly first: number;
  /** How many are gone; absent: unknown. */
  readonly lost?: number;
  /** The same as a sentence. */
  readonly text: string;
}

/** A snapshot of a data folder. */
export interface DataSnapshot {
  /** The file. */
  readonly file: string;
  /** It is the state after the commit of this number. */
  readonly number: number;
  /** Length of the file. */
  readonly bytes: number;
  /** Why it cannot be read. */
  readonly problem?: string;
}

/** What a repair has done. */
export interface DataRepair {
  /** The folder with all files as they were before. */
  readonly aside: string;
  /** What is lost. */
  readonly damage: readonly DataLoss[];
}

/** Why a data folder is not opened, though its files could be read. */
export interface DataRefusal {
  /** `silent`: a process has it open, and does not answer · `unusable`: this process cannot be its owner nor ask that, or a repair failed. */
  readonly kind: 'silent' | 'unusable';
  /** The same as a sentence. */
  readonly text: string;
}

/** What the files of a data folder tell. */
export interface DataReport {
  /** The data folder. */
  readonly folder: string;
  /** Another process has it open: its files were read while they change, and cannot be repaired. */
  readonly isOpen: boolean;
  /** A copy into it is in progress, or was interrupted: it cannot be opened. */
  readonly isIncomplete: boolean;
  /** Of its segments. */
  readonly format: number;
  /** Number of the last owner that has written. */
  readonly epoch: number;
  /** Number of the last commit. */
  readonly commits: number;
  /** Newest first. */
  readonly snapshots: readonly DataSnapshot[];
  /** Segments of the log. */
  readonly segments: number;
  /** Bytes of the log. */
  readonly logBytes: number;
  /** A commit that was broken off, behind the last one. Its callers got no answer. */
  readonly brokenOff?: DataPlace;
  /** What is gone; the folder cannot be opened while there is any. */
  readonly damage: readonly DataLoss[];
  /** What its owner says goes wrong, a line each; absent: nothing, or it has none. */
  readonly problems?: readonly string[];
  /** Why nothing but its files was looked at, and nothing repaired. */
  readonly refusal?: DataRefusal;
  /** What was repaired. */
  readonly repair?: DataRepair;
}

/** How a folder is examined. */
export interface ExamineOptions {
  readonly clock: Clock;
  /**
   * Repairs the folder when something is lost, or no snapshot can be read, and no other process has it open.
   * The name of the folder inside of it that keeps the former files.
   */
  readonly aside?: string | undefined;
}

/**
 * Reads all files of a data folder, as its owner where there is none; from a process that lives it is not taken, however long that
 * does not answer. Where this process can neither own the folder nor ask its owner, it only reads. `undefined`: there is no such
 * folder.
 *
 * @throws `BackendUnsupportedError` when another version wrote it and its files cannot be read; what kept the folder from being
 * locked, where it cannot be read either.
 */
export async function examineData(
  folder: string,
  { clock, aside }: ExamineOptions,
): Promise<DataReport | undefined> {
  if (!existsSync(folder)) return undefined;
  const disk = diskIn(resolve(folder));
  const claimed = await claimAtRest(folder, { clock, operation: 'doctor' }).catch(asOwn);
  if (claimed instanceof Error) return readLocked(disk, clock, claimed);
  if (claimed.kind === 'guest') {
    const problems = await problemsOf(claimed.guest);
    const report = await readChanging(disk, { clock, isOpen: true });
    const said = problems.length === 0 ? {} : { problems };
    return { ...report, ...said, ...(claimed.guest.isSilent ? { refusal: SILENT } : {}) };
  }
  if (claimed.kind === 'silent') {
    return { ...(await readChanging(disk, { clock, isOpen: true })), refusal: SILENT };
  }
  try {
    const found = findData(disk);
    const report = await reportOf(found, { disk, clock, isOpen: false });
    if (aside === undefined || !needsRepair(report)) return report;
    const path = await repairData(disk, { clock, owner: claimed, aside, found }).catch(ofDisk);
    if (path instanceof Error) {
      return { ...report, refusal: { kind: 'unusable', text: messageOf(path) } };
    }
    const repair = { aside: path, damage: report.damage };
    return { ...(await reportOf(findData(disk), { disk, clock, isOpen: false })), repair };
  } finally {
    await claimed.release();
  }
}

const SILENT: DataRefusal = {
  kind: 'silent',
  text: 'another process has the folder open, and does not answer: stop it',
};

/** A full disk, say: what the files tell is known all the same, and a repair that was broken off can be done again. */
function ofDisk(error: unknown): Error {
  if (codeOf(error).startsWith('E')) return new BackendUnavailableError('repair', error);
  return asOwn(error);
}

function asOwn(error: unknown): Error {
  if (error instanceof Error && isOwn(error)) return error;
  throw error;
}

/** A disk that is full or takes no writes does not hold up a look at its files. */
async function readLocked(disk: Disk, clock: Clock, why: Error): Promise<DataReport> {
  const refusal: DataRefusal = { kind: 'unusable', text: messageOf(why) };
  const report = await readChanging(disk, { clock, isOpen: false }).catch((error: unknown) => {
    throw isOwn(error) ? error : why;
  });
  return { ...report, refusal };
}

/** Whether a repair would do something: something is lost, or each opening replays the whole log. */
export function needsRepair({ damage, snapshots, isIncomplete: isCopy }: DataReport): boolean {
  if (isCopy) return false;
  const isUnread = snapshots.length > 0 && snapshots.every(({ problem }) => problem !== undefined);
  return damage.length > 0 || isUnread;
}

/** What goes wrong there; nothing of an owner that is just leaving. */
async function problemsOf(guest: Guest): Promise<readonly string[]> {
  const pong = await guest.carry('inspect.ping', []).catch(() => undefined);
  await guest.close();
  const problems = isRecord(pong) ? pong['problems'] : undefined;
  return Array.isArray(problems) ? problems.map(String) : [];
}

/** Times that files may change while they are about to be read. */
const TRIES = 5;

/**
 * Files go whenever a snapshot was made; and a segment is read in pieces while it is written, so something may seem to be
 * gone in one of them that is there when the next is read. What is gone is so at the next look, too.
 */
async function readChanging(disk: Disk, around: Omit<Around, 'disk'>): Promise<DataReport> {
  let before = '';
  for (let tries = 1; ; tries++) {
    try {
      const report = await reportOf(findData(disk), { disk, ...around });
      const damage = JSON.stringify(report.damage);
      if (report.damage.length === 0 || damage === before || tries >= TRIES) return report;
      before = damage;
    } catch (error) {
      if (tries === TRIES || codeOf(error) !== 'ENOENT') throw error;
    }
  }
}

/** Where something was found. */
interface Around {
  readonly disk: Disk;
  readonly clock: Clock;
  readonly isOpen: boolean;
}

/** Reads all snapshots, too. */
async function reportOf(found: FoundData, { disk, clock, isOpen }: Around): Promise<DataReport> {
  const snapshots: DataSnapshot[] = [];
  for (const { name, number } of found.snapshots) {
    const problem = await problemOf(disk, name, clock);
    const snapshot = { file: name, number, bytes: disk.size(name) ?? 0 };
    snapshots.push(problem === undefined ? snapshot : { ...snapshot, problem });
  }
  const start = snapshots.find(({ problem }) => problem === undefined)?.number ?? NOTHING;
  const names = disk.list();
  const brokenOff = brokenOffIn(found);
  return {
    folder: disk.folder,
    isOpen,
    isIncomplete: isIncomplete(disk),
    format: LOG_FORMAT,
    epoch: segmentsOf(names).at(-1)?.epoch ?? 0,
    commits: found.nextNumber - 1,
    snapshots,
    segments: found.segments.length,
    logBytes: found.segments.reduce((sum, { end }) => sum + end, 0),
    ...(brokenOff === undefined ? {} : { brokenOff }),
    damage: found.damageAfter(start).map(({ lost, ...damage }) => {
      const text = damageText({ ...damage, lost });
      return lost === undefined ? { ...damage, text } : { ...damage, lost, text };
    }),
  };
}

/** Why a snapshot cannot be read. */
async function problemOf(disk: Disk, name: string, clock: Clock): Promise<string | undefined> {
  try {
    await readSnapshot(disk, name, newStore(new EngineClock(clock)));
    return undefined;
  } catch (error) {
    if (!(error instanceof BadSnapshotError)) throw error;
    return messageOf(error);
  }
}

function brokenOffIn({ segments }: FoundData): DataPlace | undefined {
  const last = segments.at(-1);
  if (last === undefined || !last.isTorn) return undefined;
  return { file: last.name, from: last.end, to: last.bytes };
}
