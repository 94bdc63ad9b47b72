import { systemClock } from '../../base/system-clock.ts';
import type { Clock } from '../../base/time.ts';
import { InvalidOptionError } from '../../domain/errors/errors.ts';
import { checkOptions, keysOf, type OptionKeys } from '../../domain/errors/options.ts';
import type { Backend, BackendInfo } from '../../domain/port/backend.ts';
import { closeStore, partsOn } from './parts.ts';
import { Store } from './store/store.ts';

/** Options of {@link memory}. */
export interface MemoryOptions {
  /** Clock; default the system clock. */
  readonly clock?: Clock | undefined;
}

const KEYS: OptionKeys<MemoryOptions> = keysOf<MemoryOptions>()({ clock: true });

/**
 * The embedded backend: all data is in this process, and lost at its end. The same rules as on
 * Redis, checked by the same tests.
 *
 * @example
 * ```ts
 * import { Fairloom, memory } from 'fairloom';
 *
 * const loom = new Fairloom({ backend: memory() });
 * console.log((await loom.health()).isHealthy); // prints true
 * await loom.close();
 * ```
 */
export function memory(options: MemoryOptions = {}): Backend {
  checkOptions('memory', options, KEYS);
  const { clock = systemClock } = options;
  if (typeof clock?.now !== 'function' || typeof clock.setTimer !== 'function') {
    throw new InvalidOptionError('clock', 'a Clock: now and setTimer', clock);
  }
  const store = new Store(clock);
  return {
    name: 'memory',
    capabilities: { durable: false, shared: false },
    ...partsOn(store),
    async open({ retention }): Promise<BackendInfo> {
      store.retention = retention;
      return { description: 'embedded, in memory: ends with this process', warnings: [] };
    },
    async close(): Promise<void> {
      closeStore(store);
    },
  };
}
