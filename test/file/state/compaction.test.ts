/** Snapshots that a thread makes of the log. */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type CommandLog, openLog } from '../../../src/backends/file/log/command-log.ts';
import { type Disk, diskIn } from '../../../src/backends/file/log/disk.ts';
import { findData } from '../../../src/backends/file/log/recovery.ts';
import { compact } from '../../../src/backends/file/replay/compact.ts';
import { Compaction } from '../../../src/backends/file/replay/compaction.ts';
import { Engine, EngineClock, lineOf, newStore } from '../../../src/backends/file/replay/engine.ts';
import { readSnapshot, snapshotName } from '../../../src/backends/file/state/snapshot-file.ts';
import { systemClock } from '../../../src/base/system-clock.ts';
import { newTask } from '../../support/file/some-state.ts';
import { mustBeSameState } from '../../support/file/state-text.ts';

const START = Date.UTC(2026, 0, 5, 12);

let folder = '';
let disk: Disk;
let log: CommandLog;
let engine: Engine;
let steps = 0;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'compaction-'));
  disk = diskIn(folder);
  steps = 0;
  engine = new Engine(new EngineClock(systemClock));
  log = await openLog(disk, {
    found: findData(disk),
    epoch: 1,
    stillOwns: () => true,
    sync: 'always',
    segmentBytes: 65_536,
    clock: systemClock,
  });
});

afterEach(async () => {
  await log.close();
  rmSync(folder, { recursive: true });
});

/** Stores so many tasks, each by a step of its own, or in batches. */
async function store(count: number, each = 1): Promise<void> {
  for (let at = 0; at < count; at += each) {
    const moment = START + steps;
    const tasks = Array.from({ length: each }, (_, nth) => newTask({ id: `${steps}-${nth}` }));
    steps++;
    const args = [tasks, { atomic: false }];
    await engine.step(moment, 'tasks.enqueue', args);
    await log.append(lineOf(moment, 'tasks.enqueue', args));
  }
}

async function read(number: number): Promise<void> {
  const again = await readSnapshot(disk, snapshotName(number), newStore(systemClock));
  mustBeSameState(engine.store, again.store);
  expect(again.stateBytes).toBeGreaterThan(0);
}

describe('a compaction', () => {
  it('makes a snapshot of the log, and the next one of that and of the log behind it', async () => {
    const compaction = new Compaction(disk);
    await store(20);
    const first = await log.seal();
    const length = await compaction.run(first);
    expect(length).toBeGreaterThan(0);
    await read(first);
    await store(20);
    const second = await log.seal();
    // All that the first one has is in it alone.
    for (const name of readdirSync(folder)) {
      if (name.startsWith('log-') && name < 'log-00000001-00000002') rmSync(join(folder, name));
    }
    expect(await compaction.run(second)).toBeGreaterThan(length);
    await read(second);
    expect(engine.store.records.size).toBe(40);
  });

  it('begins and ends in the middle of a segment', async () => {
    await store(9);
    const numbers = [...findData(disk).linesAfter(3, { upTo: 6 })].map(
      (line) => JSON.parse(line)[0],
    );
    expect(numbers).toEqual([START + 3, START + 4, START + 5]);
    await compact(disk, 5);
    const { store: stored } = await readSnapshot(disk, snapshotName(5), newStore(systemClock));
    expect(stored.records.size).toBe(5);
    await compact(disk, 4);
    const earlier = await readSnapshot(disk, snapshotName(4), newStore(systemClock));
    expect(earlier.store.records.size).toBe(4);
  });

  it('goes back to the snapshot before one that cannot be read', async () => {
    await store(5);
    await compact(disk, await log.seal());
    await store(5);
    const second = await log.seal();
    await compact(disk, second);
    const path = join(folder, snapshotName(second));
    const bytes = readFileSync(path);
    bytes[40] = (bytes[40] ?? 0) ^ 1;
    writeFileSync(path, bytes);
    await store(5);
    const third = await log.seal();
    await new Compaction(disk).run(third);
    await read(third);
  });

  it('leaves the event loop to others, and makes one at a time', async () => {
    await store(10_000, 1_000);
    const upTo = await log.seal();
    const compaction = new Compaction(disk);
    let turns = 0;
    let isDone = false;
    const making = compaction.run(upTo).finally(() => {
      isDone = true;
    });
    await expect(compaction.run(upTo)).rejects.toThrow('a snapshot is being made');
    while (!isDone) {
      turns++;
      await new Promise((resolve) => setImmediate(resolve));
    }
    await making;
    expect(turns).toBeGreaterThan(20);
    await read(upTo);
  });

  it('that is ended makes none, and says so', async () => {
    await store(10_000, 1_000);
    const upTo = await log.seal();
    const compaction = new Compaction(disk);
    const making = compaction.run(upTo);
    const refused = expect(making).rejects.toThrow('its thread has ended');
    await compaction.close();
    await refused;
    expect(readdirSync(folder).filter((name) => /^state-\d+$/.test(name))).toEqual([]);
    await compaction.run(upTo);
    await read(upTo);
    expect(readdirSync(folder).filter((name) => name.endsWith('.part'))).toEqual([]);
  });

  it('that fails says why', async () => {
    await store(5);
    const upTo = await log.seal();
    const compaction = new Compaction({ ...disk, folder: join(folder, 'nowhere') });
    await expect(compaction.run(upTo)).rejects.toThrow(/the snapshot was not made: .*nowhere/);
  });
});

// F94
it('is made of what was written when it was begun, and of nothing that is written meanwhile', async () => {
  await store(10);
  const { written } = log;
  await store(3);
  const name = written?.name ?? '';
  const bytes = disk.read(name);
  // The reader has come past the eleventh commit before it was written, and finds the twelfth.
  const torn = Buffer.from(bytes).fill(0, written?.bytes, (written?.bytes ?? 0) + 40);
  const reading: Disk = { ...disk, read: (one) => (one === name ? torn : disk.read(one)) };
  await expect(compact(reading, 10)).rejects.toThrow('commit');
  await compact(reading, 10, written);
  const again = await readSnapshot(disk, snapshotName(10), newStore(systemClock));
  expect(again.store.records.size).toBe(10);
});

it('is not made by a former owner of commits that the next one has written anew and cut off', async () => {
  await store(5);
  const { written } = log;
  const cut = (bytes: Buffer): Buffer => bytes.subarray(0, (written?.bytes ?? 0) - 1);
  const reading: Disk = {
    ...disk,
    read: (one) => (one === written?.name ? cut(disk.read(one)) : disk.read(one)),
  };
  await expect(compact(reading, 5, written)).rejects.toThrow('the log ends before commit 5');
});
