import { systemClock } from '../../../base/system-clock.ts';
import { DataDamagedError } from '../../../domain/errors/errors.ts';
import type { Disk } from '../log/disk.ts';
import type { LogEnd } from '../log/recovery.ts';
import { partsOfSnapshots, writeSnapshot } from '../state/snapshot-file.ts';
import { writeState } from '../state/state-writer.ts';
import { readData } from './read-data.ts';

/**
 * Makes the snapshot of the state after a commit, out of the newest one before it that can be read, and of the log
 * since, which its owner has written so far. Answers how long its lines are.
 */
export async function compact(disk: Disk, upTo: number, written?: LogEnd): Promise<number> {
  const { engine, found } = await readData(disk, systemClock, { upTo, written });
  // The next owner has taken them over into its own segment, and cut them off.
  if (found.nextNumber <= upTo) {
    throw new DataDamagedError(disk.folder, [`the log ends before commit ${upTo}`]);
  }
  for (const name of partsOfSnapshots(disk.list())) disk.remove(name);
  return writeSnapshot(disk, { number: upTo, chunks: writeState(engine.store) });
}
