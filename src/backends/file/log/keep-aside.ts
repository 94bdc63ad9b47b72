/** The first step of a repair. */
import { existsSync, linkSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { syncFolderNow } from './disk.ts';
import { snapshotsOf } from './recovery.ts';
import { segmentsOf } from './segment.ts';

/**
 * Gives all segments and snapshots among these files a second name, in a new folder inside of the data folder: what is
 * removed there afterwards is here still. Takes no room while both are there. Answers its path; the name has a number
 * behind it when there is such a folder.
 */
export function keepAside(folder: string, names: readonly string[], wanted: string): string {
  const path = join(folder, freeName(folder, wanted));
  mkdirSync(path, { mode: 0o700 });
  for (const { name } of [...snapshotsOf(names), ...segmentsOf(names)]) {
    linkSync(join(folder, name), join(path, name));
  }
  syncFolderNow(path);
  syncFolderNow(folder);
  return path;
}

function freeName(folder: string, wanted: string): string {
  let name = wanted;
  for (let count = 2; existsSync(join(folder, name)); count++) name = `${wanted}-${count}`;
  return name;
}
