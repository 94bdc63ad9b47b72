import { resolve } from 'node:path';
import { systemClock } from '../../base/system-clock.ts';
import type { Clock } from '../../base/time.ts';
import { InvalidOptionError } from '../../domain/errors/errors.ts';
import { checkOptions, keysOf, type OptionKeys } from '../../domain/errors/options.ts';
import type { Backend } from '../../domain/port/backend.ts';
import { Access } from './access.ts';
import { partsOf } from './calls.ts';
import type { SyncMode } from './log/command-log.ts';

/** Options of {@link file}. */
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

const KEYS: OptionKeys<FileOptions> = keysOf<FileOptions>()({
  sync: true,
  maxBytes: true,
  clock: true,
});

/** Below, there would be no room for the log beside two snapshots. */
const LEAST_BYTES = 67_108_864;

const MOST_EVERY_MS = 60_000;

/**
 * The durable backend without a server: everything in one folder of this machine. Tasks outlive the process, and
 * a loss of power; other processes that name the same folder share them. Linux and macOS, on a local disk.
 *
 * @param folder - a folder of its own; it is made when it is not there.
 * @throws `InvalidOptionError` when the folder is no path, or an option is out of its bounds.
 */
export function file(folder: string, options: FileOptions = {}): Backend {
  checkOptions('file', options, KEYS);
  if (typeof folder !== 'string' || folder === '' || folder.includes('\0')) {
    throw new InvalidOptionError('folder', 'a path', folder);
  }
  const { clock = systemClock, sync = 'always', maxBytes } = options;
  if (typeof clock?.now !== 'function' || typeof clock.setTimer !== 'function') {
    throw new InvalidOptionError('clock', 'a Clock: now and setTimer', clock);
  }
  checkSync(sync);
  if (maxBytes !== undefined && !(Number.isSafeInteger(maxBytes) && maxBytes >= LEAST_BYTES)) {
    throw new InvalidOptionError('maxBytes', `an integer from ${LEAST_BYTES}`, maxBytes);
  }
  const access = new Access({ folder: resolve(folder), clock, sync, maxBytes });
  return {
    name: 'file',
    capabilities: { durable: true, shared: true },
    ...partsOf(access.carry),
    open: ({ retention }) => access.open(retention),
    close: () => access.close(),
  };
}

function checkSync(sync: unknown): void {
  if (sync === 'always') return;
  const every: unknown =
    typeof sync === 'object' && sync !== null ? Reflect.get(sync, 'everyMs') : 0;
  const isIn = Number.isSafeInteger(every) && Number(every) >= 1 && Number(every) <= MOST_EVERY_MS;
  if (!isIn) {
    throw new InvalidOptionError(
      'sync',
      `'always' or { everyMs } from 1 to ${MOST_EVERY_MS}`,
      sync,
    );
  }
}
