import { describe, expect, inject, it } from 'vitest';
import { redisForTests } from '../../src/backends/redis/manual-time.ts';
import { describeBackend, type Harness } from '../../src/testing/backend-contract.ts';

/** The first moment of every test; any that is well past the epoch. */
const START = Date.UTC(2026, 0, 5, 12);

let namespaces = 0;

describeBackend('redis', { describe, it, expect }, () => open({ shortPath: true, protocol: 3 }));
describeBackend('redis, long path, RESP2', { describe, it, expect }, () =>
  open({ shortPath: false, protocol: 2 }),
);

interface Flavour {
  /** Whether steps may take the short path (ADR 12). */
  readonly shortPath: boolean;
  /** Of the connection: RESP2 or RESP3. */
  readonly protocol: 2 | 3;
}

async function open({ shortPath, protocol }: Flavour): Promise<Harness> {
  const prefix = `contract-${process.pid}-${++namespaces}`;
  const { hostname: host, port } = new URL(inject('redisUrl'));
  const target = { host, port: Number(port), protocol };
  const { backend, setTime, dispose } = redisForTests(target, { prefix, shortPath });
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
