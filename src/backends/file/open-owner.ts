import { BackendUnavailableError } from '../../domain/errors/errors.ts';
import { Compactor } from './compactor.ts';
import { type CommandLog, openLog } from './log/command-log.ts';
import { type Disk, diskIn } from './log/disk.ts';
import { LogBrokenError } from './log/log-broken-error.ts';
import { snapshotsOf } from './log/recovery.ts';
import { Owner } from './owner.ts';
import { Compaction } from './replay/compaction.ts';
import type { Engine } from './replay/engine.ts';
import { type ReadData, readData } from './replay/read-data.ts';
import type { AccessOptions, OwnerOptions, Role } from './role.ts';
import { SnapshotProblems } from './snapshot-problems.ts';
import type { OwnerClaim } from './socket/ownership.ts';
import { codeOf } from './socket/system-code.ts';
import { BAD, removeUnfinished, writeSnapshot } from './state/snapshot-file.ts';
import { writeState } from './state/state-writer.ts';

/** What an owner works with. */
export interface OwnerTools {
  readonly disk: Disk;
  /** Makes snapshots. */
  readonly compaction: Pick<Compaction, 'run' | 'close'>;
  /** As of `LogOptions`. */
  readonly segmentBytes?: number;
  readonly quickMs?: number | undefined;
  /** As of `CompactorParts`. */
  readonly leastLog?: number;
}

/** Those of a folder. */
function toolsIn(folder: string): OwnerTools {
  const disk = diskIn(folder);
  return { disk, compaction: new Compaction(disk) };
}

/**
 * Reads the data, and serves it from now on. `mustBeThere`: this process has had it open, so a folder without any is not
 * the same: it was removed, or its disk is not mounted any more.
 *
 * @throws `BackendUnavailableError` when it is not, and for what the disk says; `BackendFullError` when that has no room;
 * `DataDamagedError` · `BackendUnsupportedError` as `readData` does.
 */
export async function openOwner(
  claim: OwnerClaim,
  options: OwnerOptions,
  mustBeThere: boolean,
  tools: OwnerTools = toolsIn(options.folder),
): Promise<Role> {
  const { clock, report } = options;
  const { disk, compaction, leastLog } = tools;
  const { engine, log, stateBytes, warnings } = await openData(claim, options, mustBeThere, tools);
  const problems = new SnapshotProblems(log, report);
  let closing: Promise<void> | undefined;
  const compactor: Compactor = new Compactor({
    log,
    stateBytes,
    leastLog,
    snapshot: (upTo) => compaction.run(upTo, log.written),
    mark: () => owner.mark(),
    made: () => problems.made(),
    failed: (error) => {
      if (claim.stillOwns()) tidy(disk);
      // Then it is broken off.
      if (closing === undefined) problems.failed(error);
    },
    clock,
  });
  const owner: Owner = new Owner({
    engine,
    log,
    grown: () => compactor.look(),
    makeSpace: () => compactor.makeSpace(),
    problems: () => problems.lines(),
    stillOwns: claim.stillOwns,
    deadLetters: options.deadLetters,
  });
  claim.listen(() => owner.asker());
  const close = async (): Promise<void> => {
    claim.leave();
    await owner.close();
    await Promise.all([compactor.close(), compaction.close()]);
    if (!log.isBroken) {
      await leaveSnapshot(disk, log, engine).catch((error: unknown) => problems.failedAtEnd(error));
    }
    try {
      await log.close();
    } catch (cause) {
      throw new BackendUnavailableError('close', cause);
    } finally {
      await claim.release();
    }
  };
  const closeOnce = (): Promise<void> => {
    closing ??= close();
    return closing;
  };
  return {
    carry: owner.asker(),
    sync: options.sync,
    info: { description: descriptionOf(options), warnings: [...claim.warnings, ...warnings] },
    over: Promise.race([claim.over, log.broken]),
    leave: closeOnce,
    close: closeOnce,
  };
}

/** What is served, and how it came to be there. */
interface OpenData extends Pick<ReadData, 'engine' | 'stateBytes'> {
  readonly log: CommandLog;
  readonly warnings: readonly string[];
}

async function openData(
  { epoch, stillOwns }: OwnerClaim,
  { folder, clock, sync, maxBytes }: AccessOptions,
  mustBeThere: boolean,
  { disk, segmentBytes, quickMs }: OwnerTools,
): Promise<OpenData> {
  try {
    const { engine, found, stateBytes, unreadable } = await readData(disk, clock);
    if (mustBeThere && found.segments.length === 0 && found.snapshots.length === 0) {
      throw new BackendUnavailableError('open', `the data is not in ${folder} any more`);
    }
    // They count as no generation, and stay until the next snapshot for inspection.
    removeUnfinished(disk);
    for (const { name } of unreadable) disk.rename(name, `${BAD}${name}`);
    const limits = { segmentBytes, maxBytes, quickMs };
    const log = await openLog(disk, { found, epoch, stillOwns, sync, clock, ...limits });
    const warnings = unreadable.map(({ reason }) => `${reason}; what was before it is there`);
    return { engine, log, stateBytes, warnings };
  } catch (error) {
    const isOfDisk = error instanceof LogBrokenError || codeOf(error).startsWith('E');
    throw isOfDisk ? new BackendUnavailableError('open', error) : error;
  }
}

/** What a thread has left that was ended. */
function tidy(disk: Disk): void {
  try {
    removeUnfinished(disk);
  } catch {
    // The next snapshot does it, or the next owner.
  }
}

/**
 * Who opens the data next has nothing to replay; so a version that decides otherwise may do it, too. Without it nothing
 * is lost.
 */
async function leaveSnapshot(disk: Disk, log: CommandLog, { store }: Engine): Promise<void> {
  const number = await log.seal();
  const [newest] = snapshotsOf(disk.list());
  if (number === (newest?.number ?? 0)) return;
  removeUnfinished(disk);
  log.forget();
  await writeSnapshot(disk, { number, chunks: writeState(store) });
  log.forget();
}

function descriptionOf({ folder, sync }: AccessOptions): string {
  const when =
    sync === 'always' ? 'synced before each answer' : `synced every ${sync.everyMs} ms at least`;
  return `embedded, in ${folder}: ${when}`;
}
