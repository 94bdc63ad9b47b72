/** When a snapshot is made, how long the log may get meanwhile, what makes room, and what follows when it is not made. */
import { expect, it } from 'vitest';
import { Compactor } from '../../src/backends/file/compactor.ts';
import type { CommandLog } from '../../src/backends/file/log/command-log.ts';
import { ManualClock } from '../../src/testing/manual-clock.ts';

const MIB = 1_048_576;

/** A log of so many bytes, and a compactor of it whose snapshots come to so many, and of which each makes the next bytes unneeded. */
function kit(
  stateBytes: number,
  ...going: readonly number[]
): {
  readonly log: { bytes: number; forgotten: number; commits: number; isLow: boolean };
  readonly clock: ManualClock;
  readonly made: number[];
  readonly failures: unknown[];
  readonly said: string[];
  readonly compactor: Compactor;
  fail: boolean;
  takesMs: number;
} {
  const log = { bytes: 0, forgotten: 0, commits: 0, isLow: false };
  const clock = new ManualClock();
  const made: number[] = [];
  const failures: unknown[] = [];
  const said: string[] = [];
  const parts: CommandLog = {
    admit: () => undefined,
    append: async () => undefined,
    pending: undefined,
    isBroken: false,
    broken: new Promise<void>(() => undefined),
    get bytes() {
      return { log: log.bytes, folder: log.bytes, taken: log.bytes };
    },
    seal: async () => log.bytes + log.commits,
    forget: () => {
      if (made.length === log.forgotten) return;
      const gone = going[log.forgotten++] ?? 0;
      log.bytes -= gone;
    },
    get isLow() {
      return log.isLow;
    },
    prepared: async () => false,
    written: undefined,
    close: async () => undefined,
  };
  const found = { log, clock, made, failures, said, fail: false, takesMs: 0 };
  const compactor = new Compactor({
    log: parts,
    stateBytes,
    leastLog: 16 * MIB,
    snapshot: async (upTo) => {
      if (found.fail) throw new Error('no room');
      made.push(upTo);
      await clock.advance(found.takesMs);
      return stateBytes;
    },
    mark: async () => {
      log.commits++;
    },
    made: () => said.push('made'),
    failed: (error) => {
      said.push('failed');
      failures.push(error);
    },
    clock,
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
  expect(one.said).toEqual(['failed', 'made']);
});

it('makes one at a time', async () => {
  const one = kit(1_000);
  one.log.bytes = 16 * MIB;
  one.compactor.look();
  one.compactor.look();
  await one.compactor.rest();
  expect(one.made).toHaveLength(1);
});

it('makes room by one snapshot for all that wait, and one commit later by the next', async () => {
  const one = kit(1_000, 0, 14 * MIB);
  one.log.bytes = 15 * MIB;
  const [first, second] = [one.compactor.makeSpace(), one.compactor.makeSpace()];
  expect(await first).toBe(true);
  expect(await second).toBe(true);
  expect(one.made).toEqual([15 * MIB]);
  one.log.bytes += MIB;
  one.log.commits -= MIB;
  expect(await one.compactor.makeSpace()).toBe(true);
  expect(one.made).toEqual([15 * MIB, 15 * MIB + 1]);
});

// F93
it('makes one when calls that end work have used up a part of what is kept for them', async () => {
  const one = kit(1_000, 2 * MIB);
  await grow(one, 2 * MIB);
  expect(one.made).toEqual([]);
  one.log.isLow = true;
  await grow(one, 1);
  expect(one.made).toHaveLength(1);
});

it('what is being made may be room enough', async () => {
  const one = kit(1_000, 14 * MIB);
  one.log.bytes = 16 * MIB;
  one.compactor.look();
  expect(await one.compactor.makeSpace()).toBe(true);
  expect(one.made).toHaveLength(1);
});

it('does not try again and again where snapshots make no room', async () => {
  const one = kit(1_000);
  one.log.bytes = 15 * MIB;
  for (let i = 0; i < 10; i++) {
    expect(await one.compactor.makeSpace()).toBe(i === 0);
    await one.clock.advance(60_000);
  }
  expect(one.made).toHaveLength(1);
  // Little has changed, and may be all that there was: it is worth a try, not at once.
  one.log.bytes += 1;
  expect(await one.compactor.makeSpace()).toBe(true);
  one.log.bytes += 1;
  expect(await one.compactor.makeSpace()).toBe(false);
  expect(one.made).toHaveLength(2);
  one.log.bytes += 4 * MIB;
  expect(await one.compactor.makeSpace()).toBe(true);
  expect(one.made).toHaveLength(3);
  await one.clock.advance(1_000);
  one.log.bytes += 1;
  expect(await one.compactor.makeSpace()).toBe(true);
  expect(one.made).toHaveLength(4);
});

it('waits ten times as long as snapshots have taken that made no room', async () => {
  const one = kit(1_000);
  one.log.bytes = 15 * MIB;
  one.takesMs = 500;
  await one.compactor.makeSpace();
  for (const [ms, made] of [
    [4_999, 1],
    [1, 2],
  ] as const) {
    await one.clock.advance(ms);
    one.log.bytes += 1;
    expect(await one.compactor.makeSpace()).toBe(made === 2);
    expect(one.made).toHaveLength(made);
  }
});

it('waits some seconds before it makes room again, once it could not', async () => {
  const one = kit(1_000, 14 * MIB);
  one.log.bytes = 15 * MIB;
  one.fail = true;
  expect(await one.compactor.makeSpace()).toBe(false);
  one.fail = false;
  one.log.bytes += 1;
  await one.clock.advance(9_999);
  expect(await one.compactor.makeSpace()).toBe(false);
  expect(one.failures).toHaveLength(1);
  await one.clock.advance(1);
  expect(await one.compactor.makeSpace()).toBe(true);
});

it('looks for no longer log, however often it could make no room', async () => {
  const one = kit(1_000);
  one.log.bytes = 12 * MIB;
  one.fail = true;
  for (let tries = 0; tries < 9; tries++) {
    one.log.bytes += 1;
    expect(await one.compactor.makeSpace()).toBe(false);
    await one.clock.advance(10_000);
  }
  expect(one.failures).toHaveLength(9);
  one.fail = false;
  one.log.bytes = 26 * MIB;
  one.compactor.look();
  await one.compactor.rest();
  expect(one.made).toHaveLength(1);
});

it('makes none once it is closed', async () => {
  const one = kit(1_000, 14 * MIB);
  one.log.bytes = 16 * MIB;
  await one.compactor.close();
  one.compactor.look();
  expect(await one.compactor.makeSpace()).toBe(false);
  expect(one.made).toEqual([]);
});

// F100
it('makes one of a log that is long beside the state some seconds later, also without more calls', async () => {
  const one = kit(1_000);
  await grow(one, MIB / 4 - 1);
  await one.clock.advance(60_000);
  expect(one.made).toEqual([]);
  await grow(one, 1);
  await one.clock.advance(4_999);
  expect(one.made).toEqual([]);
  await one.clock.advance(1);
  await one.compactor.rest();
  expect(one.made).toEqual([MIB / 4]);
  await one.clock.advance(60_000);
  expect(one.made).toHaveLength(1);
});

// F100
it('leaves a log alone that is short beside the state, and one behind a closed folder', async () => {
  const large = kit(8 * MIB);
  await grow(large, MIB - 1);
  await large.clock.advance(60_000);
  expect(large.made).toEqual([]);
  await grow(large, 1);
  await large.compactor.close();
  await large.clock.advance(60_000);
  expect(large.made).toEqual([]);
});
