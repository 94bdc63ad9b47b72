/** An owner that stood still while another took over may go on: what it writes is never read, and no caller is answered. */
import { describe, expect, it } from 'vitest';
import { openLog } from '../../../src/backends/file/log/command-log.ts';
import { findData } from '../../../src/backends/file/log/recovery.ts';
import { ManualClock } from '../../../src/testing/manual-clock.ts';
import { FaultyDisk } from '../../support/file/faulty-disk.ts';

const SEGMENT = 512;

/** A log whose owner believes what it is told. */
async function logOf(disk: FaultyDisk, epoch: number, stillOwns: () => boolean = () => true) {
  return openLog(disk, {
    found: findData(disk),
    epoch,
    stillOwns,
    sync: 'always',
    clock: new ManualClock(),
    segmentBytes: SEGMENT,
  });
}

function read(disk: FaultyDisk): readonly string[] {
  return [...findData(disk).linesAfter(0)];
}

const MISTAKEN = 'the log cannot be written: another process has the data folder';

describe('an owner that thaws', () => {
  it('has a line written, and is told first: it rejects, and the log takes no more', async () => {
    const disk = new FaultyDisk();
    const owns = { first: true };
    let asked = 0;
    // It stands still between the two questions of a commit.
    const first = await logOf(disk, 1, () => owns.first || ++asked === 1);
    await first.append('["a"]');
    owns.first = false;
    const second = await logOf(disk, 2);
    await second.append('["b"]');
    const { operations } = disk;
    const { length } = operations;
    await expect(first.append('["late"]')).rejects.toThrow(MISTAKEN);
    expect(operations.slice(length)).toEqual([
      'write log-00000001-00000001',
      'sync log-00000001-00000001',
    ]);
    expect(first.isBroken).toBe(true);
    await expect(first.append('["later"]')).rejects.toThrow(MISTAKEN);
    await second.append('["c"]');
    first.forget();
    await first.close();
    expect(read(disk)).toEqual(['["a"]', '["b"]', '["c"]']);
    expect(findData(disk).damage).toEqual([]);
  });

  it('asks before it writes, too', async () => {
    const disk = new FaultyDisk();
    const first = await logOf(disk, 1, () => false);
    const { length } = disk.operations;
    await expect(first.append('["late"]')).rejects.toThrow(MISTAKEN);
    await expect(first.seal()).rejects.toThrow(MISTAKEN);
    // The reserve is made in the background, in every owner.
    const others = disk.operations.slice(length).filter((name) => !name.endsWith('reserve'));
    expect(others).toEqual([]);
  });

  it('never asks, fills segment after segment, and is not read at any moment', async () => {
    for (let before = 0; before < 6; before++) {
      const disk = new FaultyDisk();
      const expected: string[] = [];
      const first = await logOf(disk, 1);
      const add = async (log: typeof first, line: string): Promise<void> => {
        await log.append(line);
        expected.push(line);
      };
      for (let i = 0; i < before; i++) await add(first, `["first",${i}]`);
      const late = async (): Promise<void> => first.append(`["late","${'x'.repeat(200)}"]`);
      // What it has written until the other one has a segment is there; nothing after.
      const second = await logOf(disk, 2);
      for (let i = 0; i < 8; i++) {
        await late();
        expect(read(disk)).toEqual(expected);
        await add(second, `["second",${i}]`);
        expect(read(disk)).toEqual(expected);
      }
      await late();
      const third = await logOf(disk, 3);
      await late();
      await add(third, '["third"]');
      await late();
      expect(read(disk)).toEqual(expected);
      expect(findData(disk).damage).toEqual([]);
    }
  });

  it('has written a line that the next owner has read: it is there once', async () => {
    const disk = new FaultyDisk();
    const first = await logOf(disk, 1);
    const pending = first.append('["a"]');
    const found = findData(disk);
    await pending;
    const second = await openLog(disk, {
      found: findData(disk),
      epoch: 2,
      stillOwns: () => true,
      sync: 'always',
      clock: new ManualClock(),
    });
    expect(found.nextNumber).toBe(1);
    await second.append('["b"]');
    expect(read(disk)).toEqual(['["a"]', '["b"]']);
  });

  it('cannot open the folder again', async () => {
    const disk = new FaultyDisk();
    await logOf(disk, 2);
    await expect(logOf(disk, 1)).rejects.toThrow('a later owner was there');
  });

  it('removes nothing any more, though nothing of it has failed', async () => {
    const disk = new FaultyDisk();
    const owns = { first: true };
    const first = await logOf(disk, 1, () => owns.first);
    for (const line of ['a', 'b', 'c']) {
      await first.append(`["${line}${'x'.repeat(SEGMENT)}"]`);
      const number = await first.seal();
      (await disk.create(`state-${String(number).padStart(12, '0')}`, 1)).close();
    }
    const names = disk.list();
    owns.first = false;
    first.forget();
    expect(disk.list()).toEqual(names);
    owns.first = true;
    first.forget();
    expect(disk.list().length).toBeLessThan(names.length);
  });
});
