import { setImmediate } from '../../../base/globals.ts';
import { systemClock } from '../../../base/system-clock.ts';
import { Engine, EngineClock } from '../engine.ts';
import type { Disk } from '../log/disk.ts';
import { type FoundData, findData } from '../log/recovery.ts';
import {
  BadSnapshotError,
  partsOfSnapshots,
  readSnapshot,
  writeSnapshot,
} from './snapshot-file.ts';
import { writeState } from './state-writer.ts';

/** Steps that are replayed before what they leave behind is put away. */
const REPLAYED_AT_ONCE = 1_000;

/**
 * Makes the snapshot of the state after a commit, out of the newest one before it that can be read, and of the log
 * since. Answers how long its lines are.
 */
export async function compact(disk: Disk, upTo: number): Promise<number> {
  const found = findData(disk);
  const { engine, number } = await startOf(disk, found, upTo);
  let count = 0;
  for (const line of found.linesAfter(number, { upTo })) {
    engine.replay(line);
    count++;
    if (count % REPLAYED_AT_ONCE === 0) await new Promise((resolve) => setImmediate(resolve));
  }
  for (const name of partsOfSnapshots(disk.list())) disk.remove(name);
  return writeSnapshot(disk, { number: upTo, chunks: writeState(engine.store) });
}

async function startOf(
  disk: Disk,
  { snapshots }: FoundData,
  upTo: number,
): Promise<{ readonly engine: Engine; readonly number: number }> {
  const clock = new EngineClock(systemClock);
  for (const { name, number } of snapshots) {
    if (number > upTo) continue;
    try {
      const { store } = await readSnapshot(disk, name, clock);
      return { engine: new Engine(clock, store), number };
    } catch (error) {
      if (!(error instanceof BadSnapshotError)) throw error;
    }
  }
  return { engine: new Engine(clock), number: 0 };
}
