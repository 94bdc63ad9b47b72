/** The same tests of the API on each backend: clients as `testLoom` makes them, in memory and on Redis. */
import { Fairloom, memory } from 'fairloom';
import { ManualClock, type TestLoom, type TestLoomOptions } from 'fairloom/testing';
import { afterAll, describe } from 'vitest';
import type { FairloomOptions } from '../../../src/core/options.ts';
import type { Backend } from '../../../src/domain/port/backend.ts';
import type { TaskSource } from '../../../src/handlers/registry.ts';
import { silentLogger } from '../../../src/logging/logger.ts';
import { settle } from '../../../src/testing/manual-clock.ts';
import { TestLoom as LoomOn } from '../../../src/testing/test-loom.ts';
import { type Harness, openRedis } from '../backends.ts';

export interface Store {
  readonly name: 'memory' | 'redis';
  /** A namespace of its own for each; gone after the tests of the block. */
  open(tasks: TaskSource, options?: TestLoomOptions): Promise<TestLoom>;
  /** Another client of the same namespace; `wrap`: by another way. */
  beside(
    loom: TestLoom,
    tasks: TaskSource,
    options?: Partial<FairloomOptions> & { wrap?(backend: Backend): Backend },
  ): Fairloom;
  /** Lets what is under way go on as far as it can. */
  quiet(): Promise<void>;
}

/** One block of tests per backend. */
export function eachStore(body: (store: Store) => void): void {
  describe('memory', () => body(storeOn('memory')));
  describe('redis', () => body(storeOn('redis')));
}

/** Where a client keeps its tasks. */
interface Place {
  readonly backend: Backend;
  readonly clock: ManualClock;
}

function storeOn(name: 'memory' | 'redis'): Store {
  const harnesses: Harness[] = [];
  const looms: Fairloom[] = [];
  const places = new Map<Fairloom, Place>();
  const placeOf = async ({ startMs }: TestLoomOptions): Promise<Place> => {
    if (name === 'redis') {
      const harness = await openRedis();
      harnesses.push(harness);
      return harness;
    }
    const clock = new ManualClock(startMs);
    return { backend: memory({ clock }), clock };
  };
  afterAll(async () => {
    for (const loom of looms) await loom.close();
    for (const harness of harnesses) await harness.close();
  });
  return {
    name,
    open: async (tasks, options = {}) => {
      const { worker = {}, startMs: _startMs, ...rest } = options;
      const place = await placeOf(options);
      const { backend, clock } = place;
      const loom = new LoomOn({ log: silentLogger, ...rest, backend, clock, tasks }, clock, worker);
      if (name === 'redis') {
        // Time passes in the server, too.
        const advance: TestLoom['clock']['advance'] = (length) => clock.advance(length);
        Object.assign(loom, { clock: { now: () => clock.now(), advance } });
      }
      looms.push(loom);
      places.set(loom, place);
      return loom;
    },
    beside: (loom, tasks, { wrap = (backend: Backend) => backend, ...options } = {}) => {
      const place = places.get(loom);
      if (place === undefined) throw new Error('it was not opened here');
      const { clock } = place;
      const backend = wrap(place.backend);
      const other = new Fairloom({ tasks, log: silentLogger, ...options, backend, clock });
      looms.push(other);
      return other;
    },
    quiet: async () => {
      if (name === 'memory') await settle();
      for (const harness of harnesses) await harness.quiet();
    },
  };
}
