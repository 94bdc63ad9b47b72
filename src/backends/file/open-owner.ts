import { BackendUnavailableError } from '../../domain/errors/errors.ts';
import { Compactor } from './compactor.ts';
import { type CommandLog, openLog } from './log/command-log.ts';
import { type Disk, diskIn } from './log/disk.ts';
import { snapshotsOf } from './log/recovery.ts';
import { Owner } from './owner.ts';
import { Compaction } from './replay/compaction.ts';
import type { Engine } from './replay/engine.ts';
import { readData } from './replay/read-data.ts';
import type { AccessOptions, Role } from './role.ts';
import type { OwnerClaim } from './socket/ownership.ts';
import { BAD, writeSnapshot } from './state/snapshot-file.ts';
import { writeState } from './state/state-writer.ts';

/**
 * Reads the data, and serves it from now on. `mustBeThere`: this process has had it open, so a folder without any is not
 * the same: it was removed, or its disk is not mounted any more.
 *
 * @rejects `BackendUnavailableError` when it is not; `DataDamagedError` · `BackendUnsupportedError` as `readData` does.
 */
export async function openOwner(
  claim: OwnerClaim,
  options: AccessOptions,
  mustBeThere: boolean,
): Promise<Role> {
  const { folder, clock, sync, maxBytes } = options;
  const disk = diskIn(folder);
  const { engine, found, stateBytes, unreadable } = await readData(disk, clock);
  if (mustBeThere && found.segments.length === 0 && found.snapshots.length === 0) {
    throw new BackendUnavailableError('open', `the data is not in ${folder} any more`);
  }
  const { epoch, stillOwns } = claim;
  const log = await openLog(disk, { found, epoch, stillOwns, sync, maxBytes, clock });
  // They count as no generation, and stay until the next snapshot for whoever wants to look.
  for (const { name } of unreadable) disk.rename(name, `${BAD}${name}`);
  const warnings = unreadable.map(({ reason }) => `${reason}; what was before it is there`);
  const compaction = new Compaction(disk);
  const compactor: Compactor = new Compactor({
    log,
    stateBytes,
    snapshot: (upTo) => compaction.run(upTo),
    mark: () => owner.mark(),
    failed: () => undefined,
    clock,
  });
  let isBroken = (): void => undefined;
  const broken = new Promise<void>((resolve) => {
    isBroken = resolve;
  });
  const owner: Owner = new Owner({
    engine,
    log,
    grown: () => compactor.look(),
    makeSpace: () => compactor.makeSpace(),
    broken: isBroken,
  });
  claim.listen(() => owner.asker());
  let closing: Promise<void> | undefined;
  const close = async (): Promise<void> => {
    claim.leave();
    await owner.close();
    await Promise.all([compactor.close(), compaction.close()]);
    if (!log.isBroken) await leaveSnapshot(disk, log, engine).catch(() => undefined);
    await log.close();
    await claim.release();
  };
  const closeOnce = (): Promise<void> => {
    closing ??= close();
    return closing;
  };
  return {
    carry: owner.asker(),
    info: { description: descriptionOf(options), warnings: [...claim.warnings, ...warnings] },
    over: Promise.race([claim.over, broken]),
    leave: closeOnce,
    close: closeOnce,
  };
}

/**
 * Who opens the data next has nothing to replay; so a version that decides otherwise may do it, too. Without it nothing
 * is lost.
 */
async function leaveSnapshot(disk: Disk, log: CommandLog, { store }: Engine): Promise<void> {
  const number = await log.seal();
  const [newest] = snapshotsOf(disk.list());
  if (number === (newest?.number ?? 0)) return;
  await writeSnapshot(disk, { number, chunks: writeState(store) });
  log.forget();
}

function descriptionOf({ folder, sync }: AccessOptions): string {
  const when =
    sync === 'always' ? 'synced before each answer' : `synced every ${sync.everyMs} ms at least`;
  return `embedded, in ${folder}: ${when}`;
}
