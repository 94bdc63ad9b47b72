import { resolve } from 'node:path';
import { monotonicMs } from '../../base/globals.ts';
import { isRecord } from '../../base/records.ts';
import { systemClock } from '../../base/system-clock.ts';
import { InvalidOptionError } from '../../domain/errors/errors.ts';
import { checkOptions, keysOf, type OptionKeys } from '../../domain/errors/options.ts';
import type { Backend } from '../../domain/port/backend.ts';
import { Access } from './access.ts';
import { checkFolder, checkMaxBytes, checkSync, type FileOptions } from './file-options.ts';
import { type Carry, partsOf } from './log/calls.ts';

const KEYS: OptionKeys<FileOptions> = keysOf<FileOptions>()({
  sync: true,
  maxBytes: true,
  clock: true,
});

/**
 * The durable backend without a server: everything in one folder of this machine. Tasks outlive the process, and
 * a loss of power; other processes that name the same folder share them. Linux and macOS, on a local disk.
 *
 * @param folder - a folder of its own; it is made when it is not there.
 * @throws `InvalidOptionError` when the folder is no path, or an option is out of its bounds.
 */
export function file(folder: string, options: FileOptions = {}): Backend {
  return backendIn(folder, options, true);
}

/** The same for maintenance: it takes over from no process that lives, and refuses its calls while that does not answer. */
export function fileForMaintenance(folder: string, options: FileOptions): Backend {
  return backendIn(folder, options, false);
}

function backendIn(folder: string, options: FileOptions, takesSilent: boolean): Backend {
  checkOptions('file', options, KEYS);
  checkFolder(folder);
  const { clock = systemClock, sync = 'always', maxBytes } = options;
  if (typeof clock?.now !== 'function' || typeof clock.setTimer !== 'function') {
    throw new InvalidOptionError('clock', 'a Clock: now and setTimer', clock);
  }
  checkSync(sync);
  if (maxBytes !== undefined) checkMaxBytes(maxBytes);
  const access = new Access({ folder: resolve(folder), clock, sync, maxBytes, takesSilent });
  return {
    name: 'file',
    get capabilities() {
      return { durable: true, shared: true, sync: access.sync };
    },
    ...partsOf(timed(access.carry)),
    open: (settings) => access.open(settings),
    close: () => access.close(),
  };
}

/** How long an answer of `ping` takes is known here alone, whether this process owns the data or asks for it. */
function timed(carry: Carry): Carry {
  return async (name, args) => {
    if (name !== 'inspect.ping') return carry(name, args);
    const start = monotonicMs();
    const pong = await carry(name, args);
    return isRecord(pong) ? { ...pong, ms: monotonicMs() - start } : pong;
  };
}
