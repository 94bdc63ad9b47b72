/** `sync: { everyMs }`: the end of the process loses nothing, a loss of power at most what came after the last sync. */
import { expect, it } from 'vitest';
import { LogBrokenError } from '../../../src/backends/file/log/log-broken-error.ts';
import { contentOf, segmentName } from '../../../src/backends/file/log/segment.ts';
import { ManualClock } from '../../../src/testing/manual-clock.ts';
import { FaultyDisk, withFiles } from '../../support/file/faulty-disk.ts';
import {
  type Ledger,
  newLedger,
  openSession,
  recover,
  wrongIn,
} from '../../support/file/log-sessions.ts';
import { rounds } from '../../support/rounds.ts';

const EVERY_MS = 100;
const POWER_CUTS = rounds(200, 24);

/** Two owners; lines of many lengths, syncs at some moments. Answers with how many were told when the last sync ended. */
async function twoOwners(disk: FaultyDisk, ledger: Ledger, safe: { lines: number }): Promise<void> {
  for (const epoch of [1, 2]) {
    const clock = new ManualClock();
    const session = await openSession(disk, ledger, { epoch, sync: { everyMs: EVERY_MS }, clock });
    safe.lines = ledger.told.size;
    for (let step = 0; step < 12; step++) {
      if (!(await session.append((step * 131) % 500))) throw new Error('the disk is gone');
      if (step % 5 !== 4) continue;
      const { size } = ledger.told;
      await clock.advance(EVERY_MS);
      await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
      await session.append();
      if (!session.log.isBroken) safe.lines = size;
    }
    if (epoch === 2) await session.log.close();
  }
}

async function operations(): Promise<readonly string[]> {
  const disk = new FaultyDisk();
  await twoOwners(disk, newLedger(), { lines: 0 });
  return disk.operations;
}

it(`a crash at any operation: nothing is lost without a power cut, after one at most the end (${POWER_CUTS} power cuts each)`, async () => {
  const all = await operations();
  const syncs = all.filter((name) => name.startsWith('sync log')).length;
  expect(all.filter((name) => name.startsWith('write log')).length).toBeGreaterThan(syncs + 10);
  for (const [index, operation] of all.entries()) {
    const disk = new FaultyDisk(new Map(), { seed: index });
    disk.failAt(index + 1, 'crash');
    const ledger = newLedger();
    const safe = { lines: 0 };
    await twoOwners(disk, ledger, safe).catch(() => {});
    const where = `operation ${index + 1} (${operation})`;
    expect(
      wrongIn(recover(new FaultyDisk(disk.afterCrash())).lines, ledger),
      where,
    ).toBeUndefined();
    const told = [...ledger.told];
    for (let seed = 0; seed < POWER_CUTS; seed++) {
      const { lines } = recover(new FaultyDisk(disk.afterPowerCut(seed)));
      const own = { appended: ledger.appended, told: new Set(told.slice(0, safe.lines)) };
      expect(wrongIn(lines, own), `${where}, power cut ${seed}`).toBeUndefined();
      // Of all owners together it is the beginning.
      const order = ledger.appended.flat();
      expect(lines, `${where}, power cut ${seed}`).toEqual(order.slice(0, lines.length));
    }
  }
});

it('EIO of a sync in the background breaks the log, and who opens anew finds everything', async () => {
  const disk = new FaultyDisk();
  const ledger = newLedger();
  const clock = new ManualClock();
  const sync = { everyMs: EVERY_MS };
  const session = await openSession(disk, ledger, { epoch: 1, sync, clock });
  await session.appendMany(3);
  await session.append();
  disk.failAt(disk.operations.length + 1, 'EIO');
  await clock.advance(EVERY_MS);
  await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
  expect(disk.operations.at(-1)).toMatch(/^sync/);
  expect(session.log.isBroken).toBe(true);
  expect(await session.append()).toBe(false);
  await expect(session.log.close()).rejects.toThrow(LogBrokenError);
  const again = await openSession(disk, ledger, { epoch: 1, sync });
  await again.append();
  expect(wrongIn(recover(disk).lines, ledger)).toBeUndefined();
  // Those that the failed sync had are on the disk now.
  const told = new Set([...ledger.told].slice(0, 4));
  for (let seed = 0; seed < POWER_CUTS; seed++) {
    const { lines } = recover(new FaultyDisk(disk.afterPowerCut(seed)));
    expect(wrongIn(lines, { appended: ledger.appended, told })).toBeUndefined();
  }
});

it('seal and close sync what is not', async () => {
  for (const end of ['seal', 'close'] as const) {
    const disk = new FaultyDisk();
    const ledger = newLedger();
    const session = await openSession(disk, ledger, { epoch: 1, sync: { everyMs: EVERY_MS } });
    await session.appendMany(9, 100);
    await session.append();
    await session.log[end]();
    for (let seed = 0; seed < 8; seed++) {
      const { lines } = recover(new FaultyDisk(disk.afterPowerCut(seed)));
      expect(wrongIn(lines, ledger)).toBeUndefined();
    }
  }
});

it('a sync makes nothing safe that came while it went on', async () => {
  const disk = new FaultyDisk();
  /** Ends the sync that goes on, each. */
  const ends: (() => void)[] = [];
  let isSlow = false;
  const slow = withFiles(disk, (file) => ({
    ...file,
    sync: async () => {
      const done = file.sync();
      if (isSlow) await new Promise<void>((resolve) => ends.push(resolve));
      await done;
    },
  }));
  const clock = new ManualClock();
  const sync = { everyMs: EVERY_MS };
  const session = await openSession(slow, newLedger(), { epoch: 1, sync, clock });
  isSlow = true;
  await session.append();
  await clock.advance(EVERY_MS);
  await session.append();
  ends.shift()?.();
  await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
  await session.append();
  expect(ends).toHaveLength(1);
  const segment = disk.read(segmentName(1, 1));
  const { frames } = contentOf(segment, { from: 1, below: 9 });
  expect(frames.map(({ unsynced }) => unsynced)).toEqual([0, 1, 1]);
});
