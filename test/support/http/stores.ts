/** The same tests of the API on each backend: clients as `testLoom` makes them, in memory and on Redis. */
import { type TestLoom, type TestLoomOptions, testLoom } from 'fairloom/testing';
import { afterAll, describe } from 'vitest';
import type { TaskSource } from '../../../src/handlers/registry.ts';
import { silentLogger } from '../../../src/logging/logger.ts';
import { settle } from '../../../src/testing/manual-clock.ts';
import { TestLoom as LoomOn } from '../../../src/testing/test-loom.ts';
import { type Harness, openRedis } from '../backends.ts';

export interface Store {
  readonly name: 'memory' | 'redis';
  /** A namespace of its own for each; gone after the tests of the block. */
  open(tasks: TaskSource, options?: TestLoomOptions): Promise<TestLoom>;
  /** Lets what is under way go on as far as it can. */
  quiet(): Promise<void>;
}

/** One block of tests per backend. */
export function eachStore(body: (store: Store) => void): void {
  const open = async (...how: Parameters<Store['open']>): Promise<TestLoom> => testLoom(...how);
  describe('memory', () => body({ name: 'memory', open, quiet: settle }));
  describe('redis', () => body(onRedis()));
}

function onRedis(): Store {
  const harnesses: Harness[] = [];
  const looms: TestLoom[] = [];
  afterAll(async () => {
    for (const loom of looms) await loom.close();
    for (const harness of harnesses) await harness.close();
  });
  return {
    name: 'redis',
    open: async (tasks, { worker = {}, ...options } = {}) => {
      const harness = await openRedis();
      const { backend, clock } = harness;
      const settings = { log: silentLogger, ...options, backend, clock, tasks };
      const loom = new LoomOn(settings, clock, worker);
      // Time passes in the server, too.
      const advance: TestLoom['clock']['advance'] = (length) => clock.advance(length);
      Object.assign(loom, { clock: { now: () => clock.now(), advance } });
      harnesses.push(harness);
      looms.push(loom);
      return loom;
    },
    quiet: async () => {
      for (const harness of harnesses) await harness.quiet();
    },
  };
}
