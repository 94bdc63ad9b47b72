import { existsSync } from 'node:fs';
import { systemClock } from '../../base/system-clock.ts';
import type { Clock } from '../../base/time.ts';
import { CopyRefusedError } from '../../domain/errors/errors.ts';
import { type Disk, diskIn } from '../file/log/disk.ts';
import { newStore } from '../file/replay/engine.ts';
import { isIncomplete, markComplete, markIncomplete } from '../file/replay/incomplete.ts';
import { readData } from '../file/replay/read-data.ts';
import { claim, type OwnerClaim } from '../file/socket/ownership.ts';
import { writeSnapshot } from '../file/state/snapshot-file.ts';
import { writeState } from '../file/state/state-writer.ts';
import type { Store } from '../memory/store/store.ts';
import type { Folders } from './copy-between.ts';

/** Data folders of this machine, by the clock of whoever opens them. */
export function foldersBy(clock: Clock): Folders {
  return {
    empty: () => newStore(clock),
    open: (folder) => open(folder, clock),
    create: (folder, store, overwrite) => create(folder, store, { overwrite, clock }),
  };
}

/** The same by the clock of the system. */
export const FOLDERS: Folders = foldersBy(systemClock);

/** Files that make up what a folder tells. */
const DATA = /^(?:log|state)-/;

async function open(
  folder: string,
  clock: Clock,
): Promise<{ readonly store: Store; close(): Promise<void> }> {
  if (!existsSync(folder)) throw new CopyRefusedError(`there is no folder ${folder}`);
  const owner = await own(folder, clock);
  try {
    const disk = diskIn(folder);
    if (!hasData(disk)) throw new CopyRefusedError(`${folder} has no data`);
    const { engine } = await readData(disk, clock);
    return { store: engine.store, close: () => owner.release() };
  } catch (error) {
    await owner.release();
    throw error;
  }
}

/** Whoever owns the data has it open, and changes it. */
async function own(folder: string, clock: Clock): Promise<OwnerClaim> {
  const claimed = await claim(folder, { clock, operation: 'copy' });
  if (claimed.kind === 'owner') return claimed;
  await claimed.guest.close();
  throw new CopyRefusedError(`${folder} is open in another process: stop it, and copy again`);
}

async function create(
  folder: string,
  store: Store,
  { overwrite, clock }: { readonly overwrite: boolean; readonly clock: Clock },
): Promise<void> {
  const owner = await own(folder, clock);
  try {
    const disk = diskIn(folder);
    if (!overwrite) mustBeEmpty(disk);
    await markIncomplete(disk);
    for (const name of disk.list()) if (DATA.test(name)) disk.remove(name);
    await writeSnapshot(disk, { number: 0, chunks: writeState(store) });
    markComplete(disk);
  } finally {
    await owner.release();
  }
}

function hasData(disk: Disk): boolean {
  return disk.list().some((name) => DATA.test(name));
}

function mustBeEmpty(disk: Disk): void {
  if (isIncomplete(disk)) {
    throw new CopyRefusedError(
      `${disk.folder}: it is a copy that was broken off; copy into it again, with --overwrite`,
    );
  }
  if (!hasData(disk)) return;
  throw new CopyRefusedError(
    `the target is not empty: ${disk.folder} has data; --overwrite takes it away first`,
  );
}
