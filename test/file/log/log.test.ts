/** The log on a real folder: commits, order, what is pending, what is left behind. */
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  type CommandLog,
  type LogOptions,
  openLog,
} from '../../../src/backends/file/log/command-log.ts';
import { type Disk, diskIn } from '../../../src/backends/file/log/disk.ts';
import { findData } from '../../../src/backends/file/log/recovery.ts';
import { RESERVE } from '../../../src/backends/file/log/reserve.ts';
import { ManualClock } from '../../../src/testing/manual-clock.ts';
import { FaultyDisk, withFiles } from '../../support/file/faulty-disk.ts';

let folder: string;
let disk: Disk;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'fairloom-log-'));
  disk = diskIn(folder);
});

afterEach(() => rmSync(folder, { recursive: true }));

function open(on: Disk, options: Partial<LogOptions> & { epoch: number }): Promise<CommandLog> {
  return openLog(on, {
    found: findData(on),
    stillOwns: () => true,
    sync: 'always',
    clock: new ManualClock(),
    ...options,
  });
}

function read(on: Disk, after = 0, upTo = Infinity): readonly string[] {
  return [...findData(on).linesAfter(after, { upTo })];
}

/** The reserve stands beside the log. */
function isOfLog(name: string): boolean {
  return name !== RESERVE;
}

/** Of all files but the reserve, which is made in the background. */
function sizes(): readonly (readonly [string, number | undefined])[] {
  return disk
    .list()
    .filter(isOfLog)
    .toSorted()
    .map((name) => [name, disk.size(name)] as const);
}

describe('the log', () => {
  it('has every line in order, over segments and owners, of any length and letters', async () => {
    const lines = Array.from({ length: 400 }, (_, i) => `[${i},"${'ü€😀x'.repeat(i % 50)}"]`);
    for (const epoch of [1, 2, 3, 4]) {
      const log = await open(disk, { epoch, segmentBytes: 8_192 });
      for (const line of lines.slice((epoch - 1) * 100, epoch * 100)) {
        const written = log.append(line);
        if (line.length % 3 === 0) await written;
      }
      await log.close();
    }
    expect(read(disk)).toEqual(lines);
  });

  it('makes one commit of what is appended while the disk is busy', async () => {
    const log = await open(disk, { epoch: 1 });
    const first = log.append('["a"]');
    expect(log.append('["b"]')).toBe(first);
    expect(log.pending).toBe(first);
    await first;
    expect(log.pending).toBeUndefined();
    const one = log.append('["c"]');
    await new Promise((resolve) => setImmediate(resolve));
    const two = log.append('["d"]');
    expect(log.append('["e"]')).toBe(two);
    expect(two).not.toBe(one);
    expect(log.pending).toBe(two);
    await two;
    await log.close();
    expect(findData(disk).nextNumber).toBe(4);
    expect(read(disk, 1)).toEqual(['["c"]', '["d"]', '["e"]']);
    expect(read(disk, 1, 2)).toEqual(['["c"]']);
  });

  it('syncs once for each commit, and makes the next segment ahead', async () => {
    const faulty = new FaultyDisk();
    const log = await open(faulty, { epoch: 1, segmentBytes: 4_096 });
    const before = faulty.operations.length;
    for (let i = 0; i < 20; i++) await log.append(`["${'x'.repeat(100)}"]`);
    expect(faulty.operations.slice(before).filter((name) => name.startsWith('sync'))).toHaveLength(
      20,
    );
    expect(faulty.list().filter(isOfLog)).toHaveLength(2);
    await log.close();
    expect(faulty.list().filter(isOfLog)).toHaveLength(1);
  });

  it.each([
    // Quicker than any disk; each hundredth commit finds out again.
    { quickMs: 0, onTheSpot: 3 },
    { quickMs: Infinity, onTheSpot: 250 },
    { quickMs: -1, onTheSpot: 0 },
  ])('syncs on the spot while the disk is quick: $quickMs ms', async ({ quickMs, onTheSpot }) => {
    const faulty = new FaultyDisk();
    let [now, inThread] = [0, 0];
    const counted = withFiles(faulty, (file) => ({
      ...file,
      sync: () => {
        inThread++;
        return file.sync();
      },
      syncNow: () => {
        now++;
        file.syncNow();
      },
    }));
    const log = await open(counted, { epoch: 1, quickMs });
    const before = inThread;
    for (let commit = 0; commit < 250; commit++) await log.append('["a"]');
    expect([now, inThread - before]).toEqual([onTheSpot, 250 - onTheSpot]);
    await log.close();
  });

  it('cuts a burst into commits of about a mebibyte', async () => {
    const log = await open(disk, { epoch: 1 });
    const line = `["${'x'.repeat(999)}"]`;
    await Promise.all(Array.from({ length: 8_000 }, () => log.append(line)));
    expect(findData(disk).nextNumber - 1).toBeGreaterThan(6);
    expect(read(disk)).toHaveLength(8_000);
    await log.close();
  });

  it('leaves files that only its user may read, without room that is not needed', async () => {
    const log = await open(disk, { epoch: 1 });
    await log.append('["a"]');
    expect(sizes()).toEqual([['log-00000001-00000001', 1_048_576]]);
    expect(statSync(join(folder, 'log-00000001-00000001')).mode & 0o777).toBe(0o600);
    await log.close();
    expect(sizes()).toEqual([['log-00000001-00000001', 54]]);
    await expect(log.append('["b"]')).rejects.toThrow('the log cannot be written: it is closed');
    await log.close();
  });

  it('gives back the room of an owner that was killed', async () => {
    const log = await open(disk, { epoch: 1 });
    await log.append('["a"]');
    await log.append('["b"]');
    const next = await open(disk, { epoch: 2 });
    await next.close();
    // What is written anew stands once.
    expect(sizes()).toEqual([
      ['log-00000001-00000001', 54],
      ['log-00000002-00000001', 54],
    ]);
    const last = await open(disk, { epoch: 3 });
    await last.close();
    expect(sizes()).toEqual([
      ['log-00000001-00000001', 54],
      ['log-00000003-00000001', 54],
    ]);
    expect(read(disk)).toEqual(['["a"]', '["b"]']);
    await log.close();
  });

  it('seals: what it answers with changes no more, and can be forgotten', async () => {
    const log = await open(disk, { epoch: 1 });
    await log.append('["a"]');
    void log.append('["b"]');
    expect(await Promise.all([log.seal(), log.seal()])).toEqual([1, 1]);
    await log.append('["c"]');
    expect(await log.seal()).toBe(3);
    await log.append('["d"]');
    const before = disk.list().filter((name) => name.startsWith('log'));
    for (const number of [1, 3]) {
      (await disk.create(`state-${String(number).padStart(12, '0')}`, 10)).close();
    }
    log.forget();
    expect(before.filter((name) => !disk.list().includes(name))).toEqual(['log-00000001-00000001']);
    expect(read(disk, 1)).toEqual(['["b"]', '["c"]', '["d"]']);
    const bytes = disk.list().map((name) => disk.size(name) ?? 0);
    expect(log.bytes.folder).toBe(bytes.reduce((sum, size) => sum + size, 0));
    await log.close();
  });
});

describe('the disk', () => {
  it('makes a file once, full of zeros', async () => {
    const file = await disk.create('a', 3_000_000);
    await expect(disk.create('a', 10)).rejects.toThrow('EEXIST');
    expect(disk.size('a')).toBe(3_000_000);
    expect(disk.read('a').every((byte) => byte === 0)).toBe(true);
    file.write(Buffer.from('xyz'), 2_999_999);
    await file.sync();
    file.cut(3_000_001);
    file.close();
    expect(disk.read('a').toString('latin1', 2_999_998)).toBe('\0xy');
    disk.rename('a', 'b');
    expect([disk.size('a'), disk.list()]).toEqual([undefined, ['b']]);
    disk.remove('b');
    disk.remove('b');
    expect(disk.free()).toBeGreaterThan(0);
  });
});
