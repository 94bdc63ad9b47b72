import type { Clock } from '../../base/time.ts';
import { BackendUnavailableError } from '../../domain/errors/errors.ts';
import type { Disk } from './log/disk.ts';
import { keepAside } from './log/keep-aside.ts';
import { keepSnapshot } from './log/keep-snapshot.ts';
import type { FoundData } from './log/recovery.ts';
import { readData } from './replay/read-data.ts';
import type { OwnerClaim } from './socket/ownership.ts';
import { writeSnapshot } from './state/snapshot-file.ts';
import { writeState } from './state/state-writer.ts';

/** How to repair. */
export interface RepairOptions {
  readonly clock: Clock;
  readonly owner: Pick<OwnerClaim, 'stillOwns'>;
  readonly aside: string;
  /** What is there. */
  readonly found: FoundData;
}

/**
 * Everything that can be read becomes one snapshot, and the folder is whole again. All files that were there before have
 * a second name first, in the folder `aside` inside of it, whose path it answers: so nothing goes that could not be read.
 * Broken off at any place, it can be done again.
 *
 * @throws `BackendUnsupportedError` when another version wrote what would have to be replayed: nothing has changed then.
 */
export async function repairData(
  disk: Disk,
  { clock, owner: { stillOwns }, aside, found }: RepairOptions,
): Promise<string> {
  const { engine } = await readData(disk, clock, { despiteDamage: true, found });
  mustOwn(disk, stillOwns);
  const path = keepAside(disk.folder, disk.list(), aside);
  const number = found.nextNumber - 1;
  await writeSnapshot(disk, { number, chunks: writeState(engine.store) });
  mustOwn(disk, stillOwns);
  keepSnapshot(disk, number);
  return path;
}

/** Reading takes its time. */
function mustOwn({ folder }: Disk, stillOwns: () => boolean): void {
  if (stillOwns()) return;
  throw new BackendUnavailableError('repair', `another process has taken over ${folder}`);
}
