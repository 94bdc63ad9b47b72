import { describe, expect, inject, it } from 'vitest';
import { redisForTests } from '../../src/backends/redis/manual-time.ts';
import { describeBackend, type Harness } from '../../src/testing/backend-contract.ts';

/** The first moment of every test; any that is well past the epoch. */
const START = Date.UTC(2026, 0, 5, 12);

let namespaces = 0;

describeBackend('redis', { describe, it, expect }, async (): Promise<Harness> => {
  const prefix = `contract-${process.pid}-${++namespaces}`;
  const { backend, setTime, dispose } = redisForTests(inject('redisUrl'), { prefix });
  let now = START;
  await setTime(now);
  return {
    backend,
    advance: async (ms) => {
      now += ms;
      await setTime(now);
    },
    now: () => now,
    close: dispose,
  };
});
