/** The last step of a repair. */
import { DataDamagedError } from '../../../domain/errors/errors.ts';
import type { Disk } from './disk.ts';
import { snapshotsOf } from './recovery.ts';
import { segmentsOf } from './segment.ts';

/**
 * Removes the whole log, and all snapshots but the one of this number, which has everything that can be read. Behind it
 * nothing is damaged any more. Only for the owner, while no log is open. What is broken off can be done again.
 */
export function keepSnapshot(disk: Disk, number: number): void {
  const names = disk.list();
  const kept = snapshotsOf(names).find((snapshot) => snapshot.number === number);
  if (kept === undefined)
    throw new DataDamagedError(disk.folder, [`there is no snapshot ${number}`]);
  for (const { name } of [...snapshotsOf(names), ...segmentsOf(names)]) {
    if (name !== kept.name) disk.remove(name);
  }
}
