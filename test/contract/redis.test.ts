import { describe, expect, inject, it } from 'vitest';
import { redisForTests } from '../../src/backends/redis/manual-time.ts';
import { describeBackend, type Harness } from '../../src/conformance.ts';
import { rounds } from '../support/rounds.ts';
import { AT_SCALE, someCases } from '../support/some-cases.ts';

/** The first moment of every test; any that is well past the epoch. */
const START = Date.UTC(2026, 0, 5, 12);

let namespaces = 0;

describeBackend('redis', { describe, it, expect }, () => open(3));
// Replies have other shapes there, the same of a script in every case, and they do not come with numbers.
const some = someCases({ describe, it, expect }, { every: rounds(1, 8), never: AT_SCALE });
describeBackend('redis, RESP2', some, () => open(2));

/** `protocol`: of the connection. */
async function open(protocol: 2 | 3): Promise<Harness> {
  const prefix = `contract-${process.pid}-${++namespaces}`;
  const target = { ...inject('redisPlace'), protocol };
  const { backend, setTime, dispose } = redisForTests(target, { prefix });
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
}
