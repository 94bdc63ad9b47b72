/** When a snapshot is made, how long the log may get meanwhile, and what follows when it is not made. */
import { expect, it } from 'vitest';
import { Compactor } from '../../src/backends/file/compactor.ts';
import type { CommandLog } from '../../src/backends/file/log/command-log.ts';

const MIB = 1_048_576;

/** A log of so many bytes, and a compactor of it whose snapshots come to so many. */
function kit(stateBytes: number): {
  readonly log: { bytes: number; forgotten: number };
  readonly made: number[];
  readonly failures: unknown[];
  readonly compactor: Compactor;
  fail: boolean;
} {
  const log = { bytes: 0, forgotten: 0 };
  const made: number[] = [];
  const failures: unknown[] = [];
  const parts: CommandLog = {
    admit: () => undefined,
    append: async () => undefined,
    pending: undefined,
    isBroken: false,
    get bytes() {
      return { log: log.bytes, folder: log.bytes };
    },
    seal: async () => log.bytes,
    forget: () => {
      log.forgotten++;
    },
    close: async () => undefined,
  };
  const found = { log, made, failures, fail: false };
  const compactor = new Compactor({
    log: parts,
    stateBytes,
    snapshot: async (upTo) => {
      if (found.fail) throw new Error('no room');
      made.push(upTo);
      return stateBytes;
    },
    failed: (error) => failures.push(error),
  });
  return Object.assign(found, { compactor });
}

async function grow({ log, compactor }: ReturnType<typeof kit>, bytes: number): Promise<void> {
  log.bytes += bytes;
  compactor.look();
  await compactor.rest();
}

it('leaves a short log as it is, and makes one snapshot of each 16 MiB of little', async () => {
  const little = kit(1_000);
  await grow(little, 16 * MIB - 1);
  expect(little.made).toEqual([]);
  await grow(little, 1);
  expect(little.made).toEqual([16 * MIB]);
  await grow(little, 16 * MIB - 1);
  expect(little.made).toHaveLength(1);
  await grow(little, 1);
  expect(little.made).toEqual([16 * MIB, 32 * MIB]);
  expect(little.log.forgotten).toBe(2);
});

it('lets the log grow to half of a large state', async () => {
  const large = kit(200 * MIB);
  await grow(large, 100 * MIB - 1);
  expect(large.made).toEqual([]);
  await grow(large, 1);
  expect(large.made).toHaveLength(1);
});

it('tries again when the log is twice as long, and tells why it was not made', async () => {
  const one = kit(1_000);
  one.fail = true;
  await grow(one, 16 * MIB);
  expect(one.failures).toEqual([new Error('no room')]);
  one.fail = false;
  await grow(one, 15 * MIB);
  expect(one.made).toEqual([]);
  expect(one.log.forgotten).toBe(0);
  await grow(one, MIB);
  expect(one.made).toEqual([32 * MIB]);
});

it('makes one at a time', async () => {
  const one = kit(1_000);
  one.log.bytes = 16 * MIB;
  one.compactor.look();
  one.compactor.look();
  await one.compactor.rest();
  expect(one.made).toHaveLength(1);
});
