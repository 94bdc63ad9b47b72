import { setImmediate } from '../../base/globals.ts';
import { messageOf } from '../../base/message-of.ts';
import type { Clock } from '../../base/time.ts';
import type { AccessOptions, Role } from './access.ts';
import { Compactor } from './compactor.ts';
import { Engine, EngineClock } from './engine.ts';
import { mustBeComplete } from './incomplete.ts';
import { openLog } from './log/command-log.ts';
import { type Disk, diskIn } from './log/disk.ts';
import { type FoundData, findData } from './log/recovery.ts';
import { Owner } from './owner.ts';
import type { OwnerClaim } from './socket/ownership.ts';
import { Compaction } from './state/compaction.ts';
import { BadSnapshotError, readSnapshot } from './state/snapshot-file.ts';

/** Steps that are replayed before the event loop has its turn. */
const REPLAYED_AT_ONCE = 200;

/** What a folder comes to. */
export interface ReadData {
  readonly engine: Engine;
  readonly found: FoundData;
  /** Of the newest snapshot, see `CompactorParts`. */
  readonly stateBytes: number;
  /** What is not as it should be, though nothing is lost. */
  readonly warnings: readonly string[];
}

/**
 * The state that a folder tells: the newest snapshot that can be read, and what was written after it.
 *
 * @throws `DataDamagedError` when something is lost, `BackendUnsupportedError` when another version wrote it.
 */
export async function readData(disk: Disk, clock: Clock): Promise<ReadData> {
  mustBeComplete(disk);
  const found = findData(disk);
  const engineClock = new EngineClock(clock);
  const warnings: string[] = [];
  const start = await startOf(disk, found, engineClock, warnings);
  let count = 0;
  for (const line of found.linesAfter(start.number)) {
    start.engine.replay(line);
    count++;
    if (count % REPLAYED_AT_ONCE === 0) await nextTurn();
  }
  return { engine: start.engine, found, stateBytes: start.stateBytes, warnings };
}

/** The newest snapshot, or nothing. */
interface Start {
  readonly engine: Engine;
  readonly number: number;
  readonly stateBytes: number;
}

async function startOf(
  disk: Disk,
  found: FoundData,
  clock: EngineClock,
  warnings: string[],
): Promise<Start> {
  for (const { name, number } of found.snapshots) {
    try {
      const { store, stateBytes } = await readSnapshot(disk, name, clock);
      return { engine: new Engine(clock, store), number, stateBytes };
    } catch (error) {
      if (!(error instanceof BadSnapshotError)) throw error;
      warnings.push(`${name} cannot be read, the one before it is: ${messageOf(error)}`);
    }
  }
  return { engine: new Engine(clock), number: 0, stateBytes: 0 };
}

/** Reads the data, and serves it from now on. */
export async function openOwner(claim: OwnerClaim, options: AccessOptions): Promise<Role> {
  const { folder, clock, sync, maxBytes } = options;
  const disk = diskIn(folder);
  const { engine, found, stateBytes, warnings } = await readData(disk, clock);
  const { epoch, stillOwns } = claim;
  const log = await openLog(disk, { found, epoch, stillOwns, sync, maxBytes, clock });
  const compaction = new Compaction(disk);
  const compactor = new Compactor({
    log,
    stateBytes,
    snapshot: (upTo) => compaction.run(upTo),
    failed: () => undefined,
  });
  let isBroken = (): void => undefined;
  const broken = new Promise<void>((resolve) => {
    isBroken = resolve;
  });
  const owner = new Owner({ engine, log, grown: () => compactor.look(), broken: isBroken });
  claim.listen(() => owner.asker());
  return {
    carry: owner.asker(),
    info: { description: descriptionOf(options), warnings },
    over: Promise.race([claim.over, broken]),
    close: async () => {
      owner.close();
      await compaction.close();
      await compactor.rest();
      await log.close();
      await claim.release();
    },
  };
}

function descriptionOf({ folder, sync }: AccessOptions): string {
  const when =
    sync === 'always' ? 'synced before each answer' : `synced every ${sync.everyMs} ms at least`;
  return `embedded, in ${folder}: ${when}`;
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
