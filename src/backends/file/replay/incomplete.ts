import { BackendUnsupportedError } from '../../../domain/errors/errors.ts';
import type { Disk } from '../log/disk.ts';

/** A file that is there while everything of another backend is copied into a data folder. */
const MARK = 'incomplete';

/** Its name once everything is there: this one may come back after a loss of power. */
const COMPLETE = 'complete';

/** The folder cannot be opened from now on. */
export async function markIncomplete(disk: Disk): Promise<void> {
  if (disk.size(MARK) === undefined) (await disk.create(MARK, 0)).close();
}

/** Everything is there. */
export function markComplete(disk: Disk): void {
  disk.rename(MARK, COMPLETE);
  disk.remove(COMPLETE);
}

/** Whether a copy into the folder goes on, or was broken off. */
export function isIncomplete(disk: Disk): boolean {
  return disk.size(MARK) !== undefined;
}

/** @throws `BackendUnsupportedError` when it is. */
export function mustBeComplete(disk: Disk): void {
  if (!isIncomplete(disk)) return;
  throw new BackendUnsupportedError(
    `${disk.folder} is an incomplete copy: it is in progress, or was interrupted (fairloom copy --overwrite starts it again)`,
  );
}
