/** A snapshot that was made once is read for ever: as the state that its steps lead to. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { diskIn } from '../../../src/backends/file/log/disk.ts';
import { Engine, EngineClock, newStore } from '../../../src/backends/file/replay/engine.ts';
import { readSnapshot, snapshotName } from '../../../src/backends/file/state/snapshot-file.ts';
import { START_MS } from '../../model/harness.ts';
import { mustBeSameState } from '../../support/file/state-text.ts';

const FOLDER = fileURLToPath(new URL('../../fixtures/state/', import.meta.url));

const still = { now: () => START_MS, setTimer: () => ({ cancel: () => undefined }) };

/** The number of each is the version of the state that it is in. */
describe('a snapshot of version', () => {
  it.each([1, 2, 3])('%d is read', async (version) => {
    const engine = new Engine(new EngineClock(still));
    const lines = readFileSync(`${FOLDER}steps.jsonl`, 'utf8').trimEnd().split('\n');
    for (const line of lines) engine.replay(line);
    const { store } = await readSnapshot(diskIn(FOLDER), snapshotName(version), newStore(still));
    // It was made before queues counted for the series from their beginning on.
    if (version === 1) engine.store.series.looked.clear();
    mustBeSameState(engine.store, store);
    expect(store.records.size).toBeGreaterThan(2);
    expect(store.schedules.size).toBeGreaterThan(0);
  });
});
