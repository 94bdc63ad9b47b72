/** Stores of the embedded backend, and copies between them and Redis. */

import { type ReadOptions, type RedisPlace, storeFromRedis } from '../../src/backends/copy/copy.ts';
import { closeStore, partsOn } from '../../src/backends/memory/parts.ts';
import { Store } from '../../src/backends/memory/store/store.ts';
import type { Clock } from '../../src/base/time.ts';
import type { Backend } from '../../src/domain/port/backend.ts';

/** A backend over a store that the test has too. */
export interface StoredBackend {
  readonly store: Store;
  readonly backend: Backend;
}

/** An empty store, or one that was made elsewhere, as a backend. */
export function backendOver(clock: Clock, store: Store = new Store(clock)): StoredBackend {
  const backend: Backend = {
    name: 'memory',
    capabilities: { durable: false, shared: false },
    ...partsOn(store),
    open: async ({ retention }) => {
      store.retention = retention;
      return { description: 'over a store', warnings: [] };
    },
    close: async () => closeStore(store),
  };
  return { store, backend };
}

/** What a namespace of Redis has, as a store. */
export async function storeOf(
  place: RedisPlace,
  clock: Clock,
  options: ReadOptions = {},
): Promise<Store> {
  const store = new Store(clock);
  await storeFromRedis(place, store, options);
  return store;
}
