import type { Clock } from '../../base/time.ts';
import { InvalidOptionError } from '../../domain/errors/errors.ts';
import type { SyncMode } from '../../domain/port/backend.ts';

/** Options of `file`. */
export interface FileOptions {
  /**
   * When what was answered survives a loss of power. `'always'` (the default): before it is answered. `{ everyMs }`: after
   * that time at the latest, from 1 to 60,000; a process that dies alone loses nothing either way.
   */
  readonly sync?: SyncMode | undefined;
  /**
   * Of the folder, at least 67,108,864: beyond it, what would store more is refused with `BACKEND_FULL`, and work goes on.
   * Default: as much as the disk has.
   */
  readonly maxBytes?: number | undefined;
  /** Where it gets its time; default the system clock. */
  readonly clock?: Clock | undefined;
}

/** Below, there would be no room for the log beside two snapshots. */
const LEAST_BYTES = 67_108_864;

/** How long a sync may be put off, in ms: a longer delay would lose more than users remember. */
export const SYNC_BOUNDS: { readonly least: number; readonly most: number } = {
  least: 1,
  most: 60_000,
};

/** @throws `InvalidOptionError` for what is no path. */
export function checkFolder(folder: unknown): asserts folder is string {
  if (typeof folder === 'string' && folder.trim() !== '' && !folder.includes('\0')) return;
  throw new InvalidOptionError('folder', 'the path of a folder', folder);
}

/** @throws `InvalidOptionError` for what is no way to sync. */
export function checkSync(sync: unknown): asserts sync is SyncMode {
  if (sync === 'always') return;
  const { least, most } = SYNC_BOUNDS;
  const every: unknown =
    typeof sync === 'object' && sync !== null ? Reflect.get(sync, 'everyMs') : 0;
  if (Number.isSafeInteger(every) && Number(every) >= least && Number(every) <= most) return;
  throw new InvalidOptionError('sync', `'always' or { everyMs } from ${least} to ${most}`, sync);
}

/** @throws `InvalidOptionError` for what is no bound of a folder. */
export function checkMaxBytes(maxBytes: unknown): void {
  if (Number.isSafeInteger(maxBytes) && Number(maxBytes) >= LEAST_BYTES) return;
  throw new InvalidOptionError('maxBytes', `an integer from ${LEAST_BYTES}`, maxBytes);
}
