import { setImmediate } from '../../../base/globals.ts';
import { messageOf } from '../../../base/message-of.ts';
import type { Clock } from '../../../base/time.ts';
import type { Disk } from '../log/disk.ts';
import { type FoundData, findData, type LogEnd, NOTHING, type Snapshot } from '../log/recovery.ts';
import { LAW } from '../log/segment.ts';
import { BadSnapshotError, readSnapshot } from '../state/snapshot-file.ts';
import { Engine, EngineClock, newStore } from './engine.ts';
import { mustBeComplete } from './incomplete.ts';

/** Steps that are replayed before the event loop has its turn. */
const REPLAYED_AT_ONCE = 200;

/** A snapshot, and why it cannot be read. */
interface Unreadable {
  readonly name: string;
  readonly reason: string;
}

/** The content of a folder. */
export interface ReadData {
  readonly engine: Engine;
  readonly found: FoundData;
  /** Of the snapshot that it was begun with, unpacked; 0: there was none. */
  readonly stateBytes: number;
  /** Steps that were replayed. */
  readonly replayed: number;
  /** Newer snapshots, which cannot be read; what was before them and since makes up for them. */
  readonly unreadable: readonly Unreadable[];
}

/** How much is read. */
export interface ReadOptions {
  /** Number of the last commit that counts. */
  readonly upTo?: number;
  /** Goes on behind commits that are gone, without an error. */
  readonly despiteDamage?: boolean;
  /** How far its owner has written, where that goes on. */
  readonly written?: LogEnd | undefined;
  /** What its files are, where that was found just now. */
  readonly found?: FoundData;
}

/**
 * The state that a folder tells: the newest snapshot that can be read, and what was written after it.
 *
 * @throws `DataDamagedError` when something is lost, `BackendUnsupportedError` when another version wrote it.
 */
export async function readData(
  disk: Disk,
  clock: Clock,
  options: ReadOptions = {},
): Promise<ReadData> {
  mustBeComplete(disk);
  const { upTo = Infinity, written, found = findData(disk, LAW, written) } = options;
  const unreadable: Unreadable[] = [];
  const snapshots = found.snapshots.filter(({ number }) => number <= upTo);
  const { engine, number, stateBytes } = await startOf(
    disk,
    snapshots,
    new EngineClock(clock),
    unreadable,
  );
  let replayed = 0;
  for (const line of found.linesAfter(number, options)) {
    engine.replay(line);
    replayed++;
    if (replayed % REPLAYED_AT_ONCE === 0) await new Promise((resolve) => setImmediate(resolve));
  }
  return { engine, found, stateBytes, replayed, unreadable };
}

/** A state, and the number of the commit after which it was so. */
interface Start {
  readonly engine: Engine;
  readonly number: number;
  readonly stateBytes: number;
}

async function startOf(
  disk: Disk,
  snapshots: readonly Snapshot[],
  clock: EngineClock,
  unreadable: Unreadable[],
): Promise<Start> {
  for (const { name, number } of snapshots) {
    try {
      const { store, stateBytes } = await readSnapshot(disk, name, newStore(clock));
      return { engine: new Engine(clock, store), number, stateBytes };
    } catch (error) {
      if (!(error instanceof BadSnapshotError)) throw error;
      unreadable.push({ name, reason: messageOf(error) });
    }
  }
  return { engine: new Engine(clock), number: NOTHING, stateBytes: 0 };
}
