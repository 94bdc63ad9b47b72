import { CopyRefusedError } from '../../domain/errors/errors.ts';
import type { Store } from '../memory/store/store.ts';
import { withIoredis } from '../redis/connection/with-ioredis.ts';
import { type CopyCounts, countsOf } from './counts.ts';

/** Where data is: a namespace of a Redis server, or a data folder. */
export type CopyPlace =
  | { readonly kind: 'redis'; readonly url: string; readonly prefix: string }
  | { readonly kind: 'folder'; readonly folder: string };

/** What is done with data folders. */
export interface Folders {
  /** An empty store, as the owner of a data folder has it. */
  empty(): Store;
  /** What a data folder has, whose only owner the caller is until it closes it. `force`: also while workers live there. */
  open(folder: string, force: boolean): Promise<{ readonly store: Store; close(): Promise<void> }>;
  /** Makes a data folder of a store. @throws `CopyRefusedError` when there is data already, or workers live there. */
  create(
    folder: string,
    store: Store,
    options: { readonly overwrite: boolean; readonly force: boolean },
  ): Promise<void>;
}

/** How a copy is made. */
export interface CopyRequest {
  readonly from: CopyPlace;
  readonly to: CopyPlace;
  /** What is in the target goes first. */
  readonly overwrite: boolean;
  /** Also while workers live there; never of a folder that a process has open. */
  readonly force: boolean;
  /** Hears how many tasks of how many are written. */
  onTasks(count: number, of: number): void;
}

/**
 * Copies all data from one store to another. The source does not change.
 *
 * @throws `CopyRefusedError` when the source is not at rest, or the target is not empty.
 */
export async function copyBetween(request: CopyRequest, folders: Folders): Promise<CopyCounts> {
  const { from, to } = request;
  if (placeText(from) === placeText(to)) {
    throw new CopyRefusedError('source and target are the same place');
  }
  const source = await read(request, folders);
  try {
    await write(request, source.store, folders);
    return countsOf(source.store);
  } finally {
    await source.close();
  }
}

function placeText(place: CopyPlace): string {
  return place.kind === 'redis' ? `${place.url} ${place.prefix}` : place.folder;
}

async function read(
  { from, force }: CopyRequest,
  folders: Folders,
): Promise<{ readonly store: Store; close(): Promise<void> }> {
  if (from.kind === 'folder') return folders.open(from.folder, force);
  const store = folders.empty();
  const { readRedis } = await redisEnd();
  await readRedis(from, store, force);
  return { store, close: async () => undefined };
}

async function write(
  { to, overwrite, force, onTasks }: CopyRequest,
  store: Store,
  folders: Folders,
): Promise<void> {
  if (to.kind === 'folder') return folders.create(to.folder, store, { overwrite, force });
  const of = store.records.size;
  const { writeRedis } = await redisEnd();
  await writeRedis(to, store, {
    overwrite,
    force,
    onTasks: (count) => onTasks(count, of),
  });
}

/** A copy between two folders needs no `ioredis`. */
function redisEnd(): Promise<typeof import('./redis-end.ts')> {
  return withIoredis(() => import('./redis-end.ts'));
}
