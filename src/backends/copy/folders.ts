import { existsSync } from 'node:fs';
import { systemClock } from '../../base/system-clock.ts';
import type { Clock } from '../../base/time.ts';
import { CopyRefusedError, demandNoWorkers } from '../../domain/errors/errors.ts';
import { LIMITS } from '../../domain/limits.ts';
import { type Disk, diskIn } from '../file/log/disk.ts';
import { newStore } from '../file/replay/engine.ts';
import { isIncomplete, markComplete, markIncomplete } from '../file/replay/incomplete.ts';
import { readData } from '../file/replay/read-data.ts';
import { claimAtRest, type OwnerClaim } from '../file/socket/ownership.ts';
import { writeSnapshot } from '../file/state/snapshot-file.ts';
import { writeState } from '../file/state/state-writer.ts';
import type { Store } from '../memory/store/store.ts';
import type { Folders } from './copy-between.ts';

/** Data folders of this machine, by the clock of their opener. */
export function foldersBy(clock: Clock): Folders {
  return {
    empty: () => newStore(clock),
    open: (folder, force) => open(folder, { clock, force }),
    create: (folder, store, { overwrite, force }) =>
      create(folder, store, { overwrite, force, clock }),
  };
}

/** The same by the clock of the system. */
export const FOLDERS: Folders = foldersBy(systemClock);

/** Files that make up what a folder tells. */
const DATA = /^(?:log|state)-/;

interface OpenOptions {
  readonly clock: Clock;
  /** Also while workers live there. */
  readonly force: boolean;
}

async function open(
  folder: string,
  options: OpenOptions,
): Promise<{ readonly store: Store; close(): Promise<void> }> {
  if (!existsSync(folder)) throw new CopyRefusedError(`there is no folder ${folder}`);
  const owner = await own(folder, options.clock);
  try {
    const disk = diskIn(folder);
    if (!hasData(disk)) throw new CopyRefusedError(`${folder} has no data`);
    const { engine } = await readData(disk, options.clock);
    if (!options.force) mustBeAtRest(engine.store, options.clock.now(), 'source');
    return { store: engine.store, close: () => owner.release() };
  } catch (error) {
    await owner.release();
    throw error;
  }
}

/**
 * The owner of the data has it open, and changes it. `force` does not help: a process that does not answer may
 * go on at any time, with tasks that are in the copy, too.
 */
async function own(folder: string, clock: Clock): Promise<OwnerClaim> {
  const claimed = await claimAtRest(folder, { clock, operation: 'copy' });
  if (claimed.kind === 'owner') return claimed;
  if (claimed.kind === 'silent') {
    throw new CopyRefusedError(
      `${folder} is open in another process, which does not answer: stop it, and copy again`,
    );
  }
  await claimed.guest.close();
  throw new CopyRefusedError(`${folder} is open in another process: stop it, and copy again`);
}

/** The same as of a namespace of Redis: what a process works on would run there and in the copy. */
function mustBeAtRest(store: Store, now: number, where: 'source' | 'target'): void {
  const live = [...store.workers].flatMap(([id, { lastSeenAt }]) =>
    now - lastSeenAt <= LIMITS.workerSilenceMs ? [id] : [],
  );
  demandNoWorkers(live, where);
}

async function create(
  folder: string,
  store: Store,
  { overwrite, ...options }: OpenOptions & { readonly overwrite: boolean },
): Promise<void> {
  const owner = await own(folder, options.clock);
  try {
    const disk = diskIn(folder);
    if (!overwrite) mustBeEmpty(disk);
    else if (!options.force && hasData(disk)) await mustBeOverwritable(disk, options.clock);
    await markIncomplete(disk);
    for (const name of disk.list()) if (DATA.test(name)) disk.remove(name);
    await writeSnapshot(disk, { number: 0, chunks: writeState(store) });
    markComplete(disk);
  } finally {
    await owner.release();
  }
}

/** Of what cannot be read nothing can be said, and nothing can run. */
async function mustBeOverwritable(disk: Disk, clock: Clock): Promise<void> {
  const data = await readData(disk, clock).catch(() => undefined);
  if (data !== undefined) mustBeAtRest(data.engine.store, clock.now(), 'target');
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
